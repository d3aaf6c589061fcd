import type { Call } from '../call.js';
import { patchOfResource } from '../sent-patch.js';
import { Phase, type Entry } from './entry.js';

/** The call that an entry makes, as if it had come by itself. @throws FhirError where its patch is none */
export function callOf(entry: Entry, bundle: Call): Call {
  const { route, resource, conditions, phase, method } = entry;
  const { interaction, type, id, versionId, params } = route;
  return {
    interaction,
    params,
    conditions,
    ...(type === undefined ? {} : { type }),
    ...(id === undefined ? {} : { id }),
    ...(versionId === undefined ? {} : { versionId }),
    ...(method === 'PATCH' ? { patch: patchOfResource(resource) } : resource === undefined ? {} : { body: resource }),
    // Whoever loads thousands of resources has them already.
    prefer: phase === Phase.Read ? bundle.prefer : { ...bundle.prefer, return: bundle.prefer.return ?? 'minimal' },
    base: bundle.base,
    ...(bundle.signal === undefined ? {} : { signal: bundle.signal }),
  };
}
