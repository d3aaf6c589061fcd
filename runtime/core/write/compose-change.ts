import { equalJson } from '../../fhir/equal.js';
import { FhirError } from '../../fhir/errors.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import { checkComplete, clientMeta, keepTags, withMeta } from '../../fhir/meta.js';
import type { JsonObject, JsonValue, Resource } from '../../fhir/resource.js';
import { readJson } from '../../format/read-json.js';
import { writeJson } from '../../format/write-json.js';
import { sizeOf } from '../../path/size-of.js';
import { countContained, CUT_ENTRY, extractContainedYielding, MOST_CONTAINED } from '../../indexing/contained.js';
import { jsonBytes } from '../../indexing/entry-bytes.js';
import { stampBody, type BodyTemplate } from '../../store/body.js';
import { expecting, type Put, type StoredVersion } from '../../store/store.js';
import { liveVersion } from './preconditions.js';
import { fitUnlessFitted, parsedIndexEntries } from './parsed-entries.js';
import { parsedBodyOf, type ParsedContent } from './parsed-bodies.js';
import { STORED_DEPTH } from '../read-stored.js';
import { span } from '../../observe/trace/spans.js';
import type { Services } from '../services.js';

/**
 * Part of the size limit below which no bytes need to be counted. A text of so many UTF-16 code units has at most three
 * times as many bytes, and index entries of that size at most six times: together they do not reach the limit.
 */
const SURELY_SMALL = 1 / 15;

/** The services that a change is composed with. */
export type ComposingServices = Pick<Services, 'extract' | 'refit' | 'limits'> & Partial<Pick<Services, 'integrity'>>;

/** Options of `composePut`. */
export interface PutOptions {
  /** `kept` (default): tags and security labels of the current version are kept; `as-sent`: they are replaced. */
  readonly tags?: 'kept' | 'as-sent';
  /** Parsed content of the current version, if the caller has it already; its references need not lead anywhere. */
  readonly before?: Resource | undefined;
}

/**
 * The change that gives a resource this content, or undefined if the current version has it already. Tags and security
 * labels of that version are kept, unless the options say otherwise. Yields to the event loop between its steps, and while it extracts the
 * entries of many contained resources. https://hl7.org/fhir/R5/resource.html#tag-updates
 *
 * @param current the stored version of this type and id
 * @throws FhirError if `meta` is malformed, the resource is tagged SUBSETTED, or it is too large
 */
export async function composePut(
  sent: Resource,
  id: string,
  current: StoredVersion | undefined,
  { extract, refit, limits, integrity }: ComposingServices,
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
    // Unchanged content mostly has the same text too; then the stored text need not be parsed.
    if (stampBody(body, live.version, live.lastUpdated) === live.json) return undefined;
    const existing = readBefore(live.json);
    const metaBefore = clientMeta(existing);
    const meta = tags === 'kept' ? keepTags(sentMeta, metaBefore) : sentMeta;
    if (meta !== sentMeta) {
      resource = withMeta(sent, id, meta);
      body = composeBody(resource, known);
    }
    if (equalJson(resource, withMeta(existing, id, metaBefore))) return undefined;
  }
  const yieldIfDue = yieldToEventLoop();
  // Checked first, because extraction from a text that is too large would take long.
  const size = checkSize(body, limits.resource);
  const most = limits.resource * SURELY_SMALL;
  const made = span('index', { type: resource.resourceType }, () =>
    known === undefined ? extract(resource) : parsedIndexEntries(resource, known, extract),
  );
  const all = refit(resource, made);
  await yieldIfDue();
  const knownOfAll = all === made ? known : undefined;
  const entryBytes = knownOfAll?.entryBytes;
  // A small resource may have large entries: the expression of a stored parameter can repeat a value many times.
  const areSmall = (entryBytes ?? sizeOf(all, most)) <= most;
  if (!(size === undefined && areSmall)) {
    const bytes = size ?? bytesOf(body);
    if (bytes + (entryBytes ?? jsonBytes(all)) > limits.resource) throw tooLarge(limits.resource);
  }
  // Contained resources are stored separately, so they have a size limit of their own.
  const { contained, isCut } =
    known ?? (await extractContainedYielding(resource, extract, limits.resource, yieldIfDue));
  await yieldIfDue();
  const characters = body.head.length + body.tail.length;
  const entries = fitUnlessFitted(isCut ? [...all, CUT_ENTRY] : all, resource, characters, knownOfAll);
  await yieldIfDue();
  const targets = integrity?.targetsOf(resource, before);
  return {
    type: resource.resourceType,
    id,
    ...expecting(current),
    body,
    content: resource,
    entries,
    ...(contained.length > 0 && { contained }),
    ...(targets !== undefined && { targets }),
  };
}

/** The error for too many contained resources. A stored resource that has more than the limit can still be updated. */
function tooMany(count: number): FhirError {
  const text = `A resource may contain ${MOST_CONTAINED} others, not ${count}; give them places of their own`;
  return new FhirError('resource-too-large', text);
}

/** The bytes of the text; undefined if it is certainly small. @throws FhirError if the text alone exceeds the limit */
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

/** JSON text of the members of an object, each preceded by a comma. */
export function jsonMembers(object: JsonObject | undefined): string {
  const text = object === undefined ? '{}' : writeJson(object);
  return text === '{}' ? '' : `,${text.slice(1, -1)}`;
}
