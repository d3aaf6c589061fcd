import type { Resource } from '../../fhir/resource.js';
import type { IndexEntry } from '../../indexing/entry.js';
import { fitWords } from '../../indexing/text/fit-words.js';
import { joinWords } from '../../indexing/text/join-words.js';
import { readStored } from '../read-stored.js';
import { parsedBodyOf, type ParsedContent } from './parsed-bodies.js';
import type { Services } from '../services.js';

/**
 * Reads a stored resource, with the content that a worker extracted from it where it is large.
 *
 * @returns `known` is absent where nothing was extracted: it is small, or larger than resources may be now
 */
export async function readWithEntries(
  json: string,
  services: Pick<Services, 'largeTexts'>,
): Promise<{ readonly content: Resource; readonly known?: ParsedContent }> {
  const content = await readStored(json, services, 'extract');
  const known = parsedBodyOf(content)?.content;
  if (known === undefined) return { content };
  return known.entryBytes === Infinity ? { content: await readStored(json, services) } : { content, known };
}

/**
 * The index entries of a resource, when all but those of id and `meta` are known.
 *
 * @param resource with the id and `meta` to be written
 */
export function parsedIndexEntries(
  { resourceType, id, meta }: Resource,
  { entries }: ParsedContent,
  extract: Services['extract'],
): readonly IndexEntry[] {
  // Some parameters have an entry for every resource: `deceased` is false for a Patient without that element. Their values
  // come from the known entries.
  const always = new Set(extract({ resourceType }).map(({ param }) => param));
  const head = { resourceType, ...(id === undefined ? {} : { id }), ...(meta === undefined ? {} : { meta }) };
  const ofHead = extract(head).filter(({ param }) => !always.has(param));
  return joinWords([...entries, ...ofHead]);
}

/** Characters of id and `meta` that change little of the room for words. */
const SHORT = 32 * 1024;

/**
 * Returns the entries with as many words as there is room for. A worker has fitted those that it made.
 *
 * @param known is absent where the entries are not only those of a worker
 * @param characters of the resource as JSON
 */
export function fitUnlessFitted(
  entries: readonly IndexEntry[],
  resource: Resource,
  characters: number,
  known: ParsedContent | undefined,
): readonly IndexEntry[] {
  const isFitted = known !== undefined && characters - known.members.length <= SHORT;
  return isFitted ? entries : fitWords(entries, resource, characters);
}
