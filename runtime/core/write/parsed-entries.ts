import type { Resource } from '../../fhir/resource.js';
import type { IndexEntry } from '../../search/entry.js';
import { joinWords } from '../../search/text/join-words.js';
import type { ParsedContent } from './parsed-bodies.js';
import type { Services } from '../services.js';

/**
 * The index entries of a resource whose entries but for id and `meta` are known.
 *
 * @param resource with the id and the `meta` that it is written with
 */
export function parsedIndexEntries(
  { resourceType, id, meta }: Resource,
  { entries }: ParsedContent,
  extract: Services['extract'],
): readonly IndexEntry[] {
  // Some parameters find something in every resource: "not deceased" is also who says nothing of it. Of these the known
  // entries tell.
  const always = new Set(extract({ resourceType }).map(({ param }) => param));
  const head = { resourceType, ...(id === undefined ? {} : { id }), ...(meta === undefined ? {} : { meta }) };
  const ofHead = extract(head).filter(({ param }) => !always.has(param));
  return joinWords([...entries, ...ofHead]);
}
