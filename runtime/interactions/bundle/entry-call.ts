import type { Call } from '../../core/call.js';
import { formOfResource } from '../../core/form.js';
import { patchOfResource, placeOfPatch } from '../write/sent-patch.js';
import { Phase, type Entry } from './entry.js';

/** The call that an entry makes, as if it had come by itself. @throws FhirError where its patch is none */
export function callOf(entry: Entry, bundle: Call): Call {
  const { route, conditions, phase, method } = entry;
  const { interaction, operation, level, type, id, versionId, member, params } = route;
  return {
    interaction,
    isEntry: true,
    ...(operation !== undefined && { operation }),
    ...(level !== undefined && { level }),
    principal: bundle.principal,
    ...(bundle.trace === undefined ? {} : { trace: bundle.trace }),
    params,
    conditions,
    ...(type === undefined ? {} : { type }),
    ...(id === undefined ? {} : { id }),
    ...(versionId === undefined ? {} : { versionId }),
    ...(member === undefined ? {} : { member }),
    ...contentOf(entry),
    ...(method === 'DELETE' && operation !== undefined && { isDeletion: true as const }),
    // A client that loads thousands of resources has them already.
    prefer: phase === Phase.Read ? bundle.prefer : { ...bundle.prefer, return: bundle.prefer.return ?? 'minimal' },
    ...(bundle.languages === undefined ? {} : { languages: bundle.languages }),
    base: bundle.base,
    ...(bundle.signal === undefined ? {} : { signal: bundle.signal }),
    ...(bundle.ledger === undefined ? {} : { ledger: bundle.ledger }),
    ...(bundle.together === undefined ? {} : { together: bundle.together }),
    ...(bundle.isProvided === true && { isProvided: true as const }),
  };
}

function contentOf({ route, resource, method }: Entry): Partial<Call> {
  if (method === 'PATCH') return { patch: patchOfResource(resource), patchPlace: placeOfPatch(resource) };
  if (method === 'POST' && route.interaction.startsWith('search-')) return { form: formOfResource(resource) };
  return resource === undefined ? {} : { body: resource };
}
