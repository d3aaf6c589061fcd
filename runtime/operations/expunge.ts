import type { Call, Reply } from '../core/call.js';
import { expungeVersions } from '../core/expunge.js';
import { findAll } from '../core/search-services/find-all.js';
import type { Services } from '../core/services.js';
import { FhirError } from '../fhir/errors.js';
import {
  allNeeded,
  checkAllVersions,
  checkExpungeTarget,
  mayDeleteAll,
  removeVersion,
} from '../interactions/history/delete-history.js';
import { expecting } from '../store/store.js';
import { SubscriptionRows } from '../subscriptions/engine/rows.js';
import { readArguments, valueOf } from './common/arguments.js';

/** Versions that one call removes where the client does not say. */
const LIMIT = 1000;

/** The type whose resources are in effect as long as they live, so that they are deleted before they are removed. */
const SEARCH_PARAMETER = 'SearchParameter';

/**
 * `$expunge`: removes versions for good, at most `limit`: all of deleted resources, past ones of others, or everything. The
 * answer counts them; a client repeats the call until it is 0. definitions/operations/expunge.json
 *
 * @throws FhirError `parameter-invalid`, `not-found`, `precondition-failed` for the current version of a resource, `scope-missing`
 *   where a scope gives only some resources of the type
 */
export async function expunge(call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services);
  const isSet = (name: string): boolean => valueOf(found, name) === true;
  const given = valueOf(found, 'limit');
  const isAll = isSet('expungeEverything');
  const limit = given === undefined ? (isAll ? Infinity : LIMIT) : Number(given);
  if (!(limit >= 1)) throw new FhirError('parameter-invalid', 'The parameter "limit" is at least 1');
  const flags = { deleted: isSet('expungeDeletedResources'), previous: isSet('expungePreviousVersions') };
  const count = isAll
    ? await expungeAll(limit, call, services)
    : await expungeSome({ ...flags, limit }, call, services);
  const parameter = [{ name: 'count', valueInteger: count }];
  return { status: 200, resource: { resourceType: 'Parameters', parameter } };
}

interface Asked {
  readonly deleted: boolean;
  readonly previous: boolean;
  readonly limit: number;
}

async function expungeSome(asked: Asked, call: Call, services: Services): Promise<number> {
  const { type, id, level } = call;
  // What is hidden of a type only a look at every version could show.
  if (level === 'type' && !mayDeleteAll(call, services)) throw allNeeded(call, `The type ${type} as a whole`);
  if (level === 'instance' || level === 'version') await checkExpungeTarget(call, services);
  if (level === 'instance' && (asked.deleted || asked.previous)) await checkAllVersions(call, services);
  if (level === 'version') return asked.deleted || asked.previous ? removeVersion(call, services) : 0;
  const place = { ...(type !== undefined && { type }), ...(id !== undefined && { id }) };
  return expungeVersions({ ...place, ...asked }, services.store, call.signal);
}

/** Search parameters are deleted first, which ends their effect in all processes; the events of subscriptions go last. */
async function expungeAll(limit: number, call: Call, services: Services): Promise<number> {
  const { store } = services;
  const query = { type: SEARCH_PARAMETER, where: { all: [] }, sort: [], count: 100, total: 'none' } as const;
  for await (const version of findAll(query, (...asked) => store.find(...asked), call.signal)) {
    const { type, id } = version;
    await store.write([{ type, id, ...expecting(version) }]);
  }
  const count = await expungeVersions({ deleted: true, previous: true, current: true, limit }, store, call.signal);
  // Then nothing is left that has events.
  if (count < limit) await new SubscriptionRows(store.maps).forgetAll();
  return count;
}
