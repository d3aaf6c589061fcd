import { isHiddenByIndex } from '../../core/access/index-visibility.js';
import { checkContent } from '../../core/access/checked-view.js';
import { isVisible } from '../../core/access/visibility.js';
import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import type { Call, Reply } from '../../core/call.js';
import { readStored } from '../../core/read-stored.js';
import type { InteractionHandler, Services } from '../../core/services.js';
import { targetOf } from '../../core/target.js';
import { MAX_ATTEMPTS, pauseAfter } from '../../core/write/commit.js';
import { composePut } from '../../core/write/compose-change.js';
import { handOn } from '../../core/write/parsed-bodies.js';
import { checkWrite, liveVersion, type LiveVersion } from '../../core/write/preconditions.js';
import { FhirError } from '../../fhir/errors.js';
import { newId, versionNumber } from '../../fhir/id.js';
import { isObject, type JsonObject, type JsonValue, listOf, type Resource } from '../../fhir/resource.js';
import type { Amendment } from '../../store/store.js';
import { readArguments, valueOf } from '../common/arguments.js';

/** The lists of `meta` that the operations change. */
const LISTS = ['profile', 'security', 'tag'] as const;

/**
 * `$meta-add`: adds profiles, tags and security labels to a version, which stays the same version of the same time.
 * https://hl7.org/fhir/R5/resource-operation-meta-add.html
 */
export const addMeta: InteractionHandler = (call, services) => amend(call, services, united);

/**
 * `$meta-delete`: removes profiles, tags and security labels; a missing one is no fault.
 * https://hl7.org/fhir/R5/resource-operation-meta-delete.html
 */
export const deleteMeta: InteractionHandler = (call, services) => amend(call, services, without);

/** Items that a list may have: all are indexed in one turn. */
const MOST_LABELS = 20_000;

type Combine = (own: readonly JsonValue[], given: readonly JsonValue[]) => readonly JsonValue[];

/** @throws FhirError `not-found`, `deleted`, `precondition-failed`, `scope-missing`, `store-busy` */
async function amend(call: Call, services: Services, combine: Combine): Promise<Reply> {
  const given = valueOf(readArguments(call, services), 'meta') as JsonObject;
  for (let tries = 0; tries < MAX_ATTEMPTS; tries++) {
    const version = await readTarget(call, services);
    checkWrite(call.conditions, version);
    const resource = await readStored(version.json, services, 'extract');
    const before = isObject(resource['meta']) ? resource['meta'] : {};
    const meta = changed(before, given, combine);
    if (meta === undefined) return reply(version, before);
    const amended = handOn(resource, { ...resource, meta } as Resource);
    const put = await composePut(amended, version.id, undefined, services, { tags: 'as-sent' });
    if (put === undefined) throw new Error('an amendment without a content');
    if (call.principal.access !== OPEN_ACCESS) checkContent(put, { ...call, interaction: 'update' });
    const { type, id, body, entries, contained, content } = put;
    const amendment: Amendment = {
      ...{ type, id, body, entries, content, version: version.version, before: version.json },
      // Labels of the resource would otherwise go to a version that another has followed meanwhile.
      ...(call.level === 'instance' && { isCurrent: true }),
      ...(contained !== undefined && { contained }),
    };
    if (await services.store.amend(amendment)) {
      const { versionId, lastUpdated } = before;
      return reply(version, { ...(versionId !== undefined && { versionId }), ...(lastUpdated !== undefined && { lastUpdated }), ...meta }); // prettier-ignore
    }
    await pauseAfter(tries);
  }
  throw new FhirError('store-busy');
}

/** The version that the URL names, as the token may change it. */
async function readTarget(call: Call, services: Services): Promise<LiveVersion> {
  const { type, id } = targetOf(call);
  const { store } = services;
  const looked = (await isHiddenByIndex({ type, id }, 'u', call, services)) ? newId() : id;
  const version = versionNumber(call.versionId ?? '');
  const isOne = call.level === 'version';
  const name = isOne ? `version ${call.versionId} of ${type}/${id}` : `${type}/${id}`;
  const stored = !isOne
    ? await store.read(type, looked)
    : version === undefined
      ? undefined
      : await store.readVersion(type, looked, version);
  if (stored === undefined || !(await isVisible(stored, 'u', call, services))) {
    throw new FhirError('not-found', `There is no ${name}`);
  }
  const live = liveVersion(stored);
  if (live === undefined) throw new FhirError('deleted', `${type}/${id} was deleted with version ${stored.version}`);
  return live;
}

/** The new `meta` without what the store sets; undefined: it is as before. */
function changed(before: JsonObject, given: JsonObject, combine: Combine): JsonObject | undefined {
  const { versionId: _versionId, lastUpdated: _lastUpdated, ...own } = before;
  const after: Record<string, JsonValue | undefined> = { ...own };
  let isChanged = false;
  for (const list of LISTS) {
    const [old, more] = [listOf(own[list]), listOf(given[list])];
    const items = combine(old, more);
    if (items.length === old.length) continue;
    isChanged = true;
    if (items.length > MOST_LABELS) {
      const text = `These operations keep ${MOST_LABELS} items in meta.${list}, and there would be ${items.length}`;
      throw new FhirError('resource-too-large', text);
    }
    if (items.length === 0) delete after[list];
    else after[list] = [...items];
  }
  return isChanged ? (after as JsonObject) : undefined;
}

function united(own: readonly JsonValue[], given: readonly JsonValue[]): readonly JsonValue[] {
  const all = new Map([...own, ...given].map((each) => [identityOf(each), each]));
  for (const each of own) all.set(identityOf(each), each);
  return [...all.values()];
}

function without(own: readonly JsonValue[], given: readonly JsonValue[]): readonly JsonValue[] {
  const gone = new Set(given.map(identityOf));
  return own.filter((each) => !gone.has(identityOf(each)));
}

/** System and code of a label, whatever its display; the URL of a profile. */
function identityOf(value: JsonValue): string {
  return isObject(value) ? JSON.stringify([value['system'] ?? null, value['code'] ?? null]) : String(value);
}

function reply(read: LiveVersion, valueMeta: JsonObject): Reply {
  const { version, lastUpdated } = read;
  const resource = { resourceType: 'Parameters', parameter: [{ name: 'return', valueMeta }] };
  return { status: 200, resource, versionId: String(version), lastUpdated, about: [read] };
}
