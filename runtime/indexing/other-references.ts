import type { OwnBases } from '../path/own-bases.js';
import type { ReferenceWalk } from '../path/reference-walk.js';
import type { IndexEntry, ReferenceEntry } from './entry.js';

/**
 * By what a resource is found that refers to another where no search parameter of the specification looks: in an extension, in a
 * contained resource, in an element without a parameter. Together with the reference parameters it finds every literal reference
 * without a version. No name of a search parameter begins with a point.
 */
export const REFERS = '.refers';

/** Name of the entries of other references (`REFERS`) in the index record. */
export const REFERENCES = '_references';

/** To be raised with every change of the code that makes other entries of the same references. */
export const REFERENCE_ENTRIES = 1;

/**
 * The entries of references that `found`, what the parameters gave, does not have. None for references that name a version.
 *
 * @param isLasting whether a parameter is built in: the entries of others end with their SearchParameter
 */
export function otherReferences(
  resource: Readonly<Record<string, unknown>>,
  found: readonly IndexEntry[],
  walk: ReferenceWalk,
  isLasting: (param: string) => boolean,
  own: OwnBases,
): readonly IndexEntry[] {
  const others = new Map<string, ReferenceEntry>();
  walk(resource, ({ reference: text }) => {
    const named = typeof text === 'string' ? own.read(text) : undefined;
    if (named === undefined || named.version !== undefined) return;
    others.set(nameOf(named), { kind: 'reference', param: REFERS, ...named });
  });
  if (others.size === 0) return [];
  for (const entry of found) {
    if (entry.kind !== 'reference' || entry.id === undefined || entry.version !== undefined) continue;
    if (isLasting(entry.param)) others.delete(nameOf(entry));
  }
  return [...others.values()];
}

function nameOf({ base = '', type = '', id = '' }: Pick<ReferenceEntry, 'base' | 'type' | 'id'>): string {
  return `${base}/${type}/${id}`;
}
