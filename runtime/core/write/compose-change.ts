import { equalJson } from '../../fhir/equal.js';
import { FhirError } from '../../fhir/errors.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import { DEFAULT_LIMITS } from '../../fhir/limits.js';
import { checkComplete, clientMeta, keepTags, withMeta } from '../../fhir/meta.js';
import type { JsonObject, JsonValue, Resource } from '../../fhir/resource.js';
import { readJson } from '../../format/read-json.js';
import { writeJson } from '../../format/write-json.js';
import { sizeOf } from '../../path/size-of.js';
import { countContained, CUT_ENTRY, extractContainedYielding, MOST_CONTAINED } from '../../search/contained.js';
import { jsonBytes } from '../../search/entry-bytes.js';
import { fitWords } from '../../search/text/fit-words.js';
import { stampBody, type BodyTemplate } from '../../store/body.js';
import type { Put, StoredVersion } from '../../store/store.js';
import { liveVersion } from './preconditions.js';
import { parsedIndexEntries } from './parsed-entries.js';
import { parsedBodyOf, type ParsedContent } from './parsed-bodies.js';
import { STORED_DEPTH } from '../read-stored.js';
import type { Services } from '../services.js';

/**
 * A text with so large a part of the limit in UTF-16 code units takes at most three times as much of it in bytes, and entries of such
 * a size at most six times: together they do not reach it.
 */
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
 * security labels of that version stay, unless the options say otherwise. Of many contained resources it makes entries while
 * others have their turn. https://hl7.org/fhir/R5/resource.html#tag-updates
 *
 * @param current what the store has under this type and id
 * @throws FhirError where `meta` is malformed, the resource is tagged SUBSETTED, or it is too large
 */
export async function composePut(
  sent: Resource,
  id: string,
  current: StoredVersion | undefined,
  { extract, refit, limits = DEFAULT_LIMITS }: Pick<Services, 'extract' | 'refit'> & Partial<Pick<Services, 'limits'>>,
  { tags = 'kept', before: stored }: PutOptions = {},
): Promise<Put | undefined> {
  const sentMeta = clientMeta(sent);
  checkComplete(sent, sentMeta);
  const live = liveVersion(current);
  const known = parsedBodyOf(sent)?.content;
  if (known?.entryBytes === Infinity) throw tooLarge(limits.resource);
  let before = stored;
  const readBefore = (json: string): Resource => (before ??= readJson(json, STORED_DEPTH) as Resource);
  const count = countContained(sent);
  if (count > MOST_CONTAINED && (live === undefined || count > countContained(readBefore(live.json))))
    throw tooMany(count);
  let resource = withMeta(sent, id, sentMeta);
  let body = composeBody(resource, known);
  if (live !== undefined) {
    // Mostly nothing at all has changed when nothing has, and the stored text need not be parsed.
    if (stampBody(body, live.version, live.lastUpdated) === live.json) return undefined;
    const there = readBefore(live.json);
    const metaBefore = clientMeta(there);
    const meta = tags === 'kept' ? keepTags(sentMeta, metaBefore) : sentMeta;
    if (meta !== sentMeta) {
      resource = withMeta(sent, id, meta);
      body = composeBody(resource, known);
    }
    if (equalJson(resource, withMeta(there, id, metaBefore))) return undefined;
  }
  // Extraction takes the longer the larger the text is, so what is too large anyway does not get there.
  const size = checkSize(body, limits.resource);
  const most = limits.resource * SURELY_SMALL;
  const made = known === undefined ? extract(resource) : parsedIndexEntries(resource, known, extract);
  const all = refit === undefined ? made : refit(resource, made);
  const entryBytes = all === made ? known?.entryBytes : undefined;
  // A small resource may have large entries: a stored parameter finds the same as often as it likes.
  const areSmall = (entryBytes ?? sizeOf(all, most)) <= most;
  if (!(size === undefined && areSmall)) {
    const bytes = size ?? bytesOf(body);
    if (bytes + (entryBytes ?? jsonBytes(all)) > limits.resource) throw tooLarge(limits.resource);
  }
  // These are written beside it, so that they have a room of their own.
  const { contained, isCut } =
    known ?? (await extractContainedYielding(resource, extract, limits.resource, yieldToEventLoop()));
  return {
    type: resource.resourceType,
    id,
    expected: current?.version ?? 0,
    body,
    content: resource,
    entries: fitWords(isCut ? [...all, CUT_ENTRY] : all, resource, body.head.length + body.tail.length),
    ...(contained.length > 0 && { contained }),
  };
}

/** What is there already may stay, so that it can still be changed. */
function tooMany(count: number): FhirError {
  const text = `A resource may contain ${MOST_CONTAINED} others, not ${count}; give them places of their own`;
  return new FhirError('resource-too-large', text);
}

/** The bytes of the text; undefined where it is surely small. @throws FhirError where they alone are too many */
function checkSize({ head, tail }: BodyTemplate, limit: number): number | undefined {
  if (head.length + tail.length <= limit * SURELY_SMALL) return undefined;
  const size = bytesOf({ head, tail });
  if (size > limit) throw tooLarge(limit);
  return size;
}

function bytesOf({ head, tail }: BodyTemplate): number {
  return Buffer.byteLength(head) + Buffer.byteLength(tail);
}

function tooLarge(limit: number): FhirError {
  return new FhirError('resource-too-large', `A resource with its index entries may have ${limit} bytes`);
}

/** JSON text around the gap for version and time: `{"resourceType":…,"id":…,"meta":{` … `}}`. */
function composeBody(resource: Resource, known: ParsedContent | undefined): BodyTemplate {
  const { resourceType, id, meta, ...rest } = resource;
  return {
    head: `${writeJson({ resourceType, id: id as JsonValue }).slice(0, -1)},"meta":{`,
    tail: `${jsonMembers(meta as JsonObject | undefined)}}${known?.members ?? jsonMembers(rest)}}`,
  };
}

/** Members of an object with a comma before each: what can follow others. */
export function jsonMembers(object: JsonObject | undefined): string {
  const text = object === undefined ? '{}' : writeJson(object);
  return text === '{}' ? '' : `,${text.slice(1, -1)}`;
}
