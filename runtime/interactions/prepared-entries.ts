import type { Resource } from '../fhir/resource.js';
import type { IndexEntry } from '../search/entry.js';
import { append } from '../search/text/line.js';
import type { PreparedContent } from './prepared.js';
import type { Services } from './services.js';

/**
 * The index entries of a resource whose entries but for id and `meta` are known.
 *
 * @param resource with the id and the `meta` that it is written with
 */
export function preparedEntries(
  { resourceType, id, meta }: Resource,
  { entries }: PreparedContent,
  extract: Services['extract'],
): readonly IndexEntry[] {
  // Some parameters find something in every resource: "not deceased" is also who says nothing of it. Of these the known
  // entries tell.
  const always = new Set(extract({ resourceType }).map(({ param }) => param));
  const head = { resourceType, ...(id === undefined ? {} : { id }), ...(meta === undefined ? {} : { meta }) };
  const ofHead = extract(head).filter(({ param }) => !always.has(param));
  return joinWords([...entries, ...ofHead]);
}

/** The words of a parameter are one entry, wherever they stand: they are asked for together. */
function joinWords(entries: readonly IndexEntry[]): readonly IndexEntry[] {
  const texts = new Map<string, string>();
  for (const entry of entries) {
    if (entry.kind !== 'words') continue;
    const before = texts.get(entry.param);
    texts.set(entry.param, before === undefined ? entry.text : append(before, entry.text));
  }
  if (texts.size === 0) return entries;
  const joined = Array.from(texts, ([param, text]): IndexEntry => ({ kind: 'words', param, text }));
  return [...entries.filter(({ kind }) => kind !== 'words'), ...joined];
}
