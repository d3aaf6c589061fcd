import { equalJson } from '../fhir/equal.js';
import { FhirError } from '../fhir/errors.js';
import { DEFAULT_LIMITS } from '../fhir/limits.js';
import { clientMeta, keepTags, withMeta } from '../fhir/meta.js';
import type { JsonObject, JsonValue, Resource } from '../fhir/resource.js';
import { readJson } from '../format/read-json.js';
import { writeJson } from '../format/write-json.js';
import { extractContained, MOST_CONTAINED, type Contained } from '../search/contained.js';
import type { IndexEntry } from '../search/entry.js';
import { stampBody, type BodyTemplate } from '../store/body.js';
import type { Put, StoredVersion } from '../store/store.js';
import { liveVersion } from './preconditions.js';
import { preparedEntries } from './prepared-entries.js';
import { preparedOf, type PreparedContent } from './prepared.js';
import { STORED_DEPTH } from './read-stored.js';
import type { Services } from './services.js';

/** Index entries hold a few times the text of their resource at most: below this part of the limit none reaches it. */
const SURELY_SMALL = 1 / 15;

/** How a change is made. */
export interface PutOptions {
  /** Tags and security labels of the version before stay (where nothing is said), or are as they are sent. */
  readonly tags?: 'kept' | 'as-sent';
  /** What the current version holds, where that has been read. */
  readonly before?: Resource | undefined;
}

/**
 * The change that gives a resource this content, or undefined where the current version has it already. Tags and
 * security labels of that version stay, unless the options say otherwise. https://hl7.org/fhir/R5/resource.html#tag-updates
 *
 * @param current what the store has under this type and id
 * @throws FhirError where `meta` is malformed or the resource too large
 */
export function composePut(
  sent: Resource,
  id: string,
  current: StoredVersion | undefined,
  { extract, refit, limits = DEFAULT_LIMITS }: Pick<Services, 'extract' | 'refit'> & Partial<Pick<Services, 'limits'>>,
  { tags = 'kept', before: stored }: PutOptions = {},
): Put | undefined {
  const sentMeta = clientMeta(sent);
  const live = liveVersion(current);
  const known = preparedOf(sent)?.content;
  if (known?.entryBytes === Infinity) throw tooLarge(limits.resource);
  checkCount(sent);
  let resource = withMeta(sent, id, sentMeta);
  let body = composeBody(resource, known);
  if (live !== undefined) {
    // Mostly nothing at all has changed when nothing has, and the stored text need not be parsed.
    if (stampBody(body, live.version, live.lastUpdated) === live.json) return undefined;
    const before = stored ?? (readJson(live.json, STORED_DEPTH) as Resource);
    const metaBefore = clientMeta(before);
    const meta = tags === 'kept' ? keepTags(sentMeta, metaBefore) : sentMeta;
    if (meta !== sentMeta) {
      resource = withMeta(sent, id, meta);
      body = composeBody(resource, known);
    }
    if (equalJson(resource, withMeta(before, id, metaBefore))) return undefined;
  }
  // Extraction takes the longer the larger the text is, so what is too large anyway does not get there.
  const size = checkSize(body, limits.resource);
  const made = known === undefined ? extract(resource) : preparedEntries(resource, known, extract);
  const entries = refit === undefined ? made : refit(resource, made);
  const entryBytes = entries === made ? known?.entryBytes : undefined;
  const contained = known?.contained ?? extractContained(resource, extract);
  if (size !== undefined) {
    const most = size + (entryBytes ?? jsonBytes(entries)) + (known?.containedBytes ?? containedBytes(contained));
    if (most > limits.resource) throw tooLarge(limits.resource);
  }
  return {
    type: resource.resourceType,
    id,
    expected: current?.version ?? 0,
    body,
    content: resource,
    entries,
    ...(contained.length > 0 && { contained }),
  };
}

/** @throws FhirError where there are too many contained resources to be found */
function checkCount({ contained }: Resource): void {
  if (!Array.isArray(contained) || contained.length <= MOST_CONTAINED) return;
  const text = `A resource may contain ${MOST_CONTAINED} others, not ${contained.length}; give them places of their own`;
  throw new FhirError('resource-too-large', text);
}

/** The bytes of the text; undefined where it is surely small. @throws FhirError where they alone are too many */
function checkSize({ head, tail }: BodyTemplate, limit: number): number | undefined {
  if (head.length + tail.length <= limit * SURELY_SMALL) return undefined;
  const size = Buffer.byteLength(head) + Buffer.byteLength(tail);
  if (size > limit) throw tooLarge(limit);
  return size;
}

/** What entries take of the limit. */
export function jsonBytes(entries: readonly IndexEntry[]): number {
  return Buffer.byteLength(JSON.stringify(entries));
}

/** What entries of contained resources take of it. */
export function containedBytes(contained: readonly Contained[]): number {
  return contained.reduce((sum, { entries }) => sum + jsonBytes(entries), 0);
}

function tooLarge(limit: number): FhirError {
  return new FhirError('resource-too-large', `A resource with its index entries may have ${limit} bytes`);
}

/** JSON text around the gap for version and time: `{"resourceType":…,"id":…,"meta":{` … `}}`. */
function composeBody(resource: Resource, known: PreparedContent | undefined): BodyTemplate {
  const { resourceType, id, meta, ...rest } = resource;
  return {
    head: `${writeJson({ resourceType, id: id as JsonValue }).slice(0, -1)},"meta":{`,
    tail: `${members(meta as JsonObject | undefined)}}${known?.members ?? members(rest)}}`,
  };
}

/** Members of an object with a comma before each: what can follow others. */
export function members(object: JsonObject | undefined): string {
  const text = object === undefined ? '{}' : writeJson(object);
  return text === '{}' ? '' : `,${text.slice(1, -1)}`;
}
