import type { Resource } from '../../fhir/resource.js';
import type { OwnBases } from '../../path/own-bases.js';
import type { ReferenceWalk } from '../../path/reference-walk.js';
import type { ResourceKey } from '../../store/store.js';

/** References to one resource are to lead to another of its type. */
export interface Renaming {
  readonly from: ResourceKey;
  readonly to: ResourceKey;
  /** By which references lead to resources here. */
  readonly own: OwnBases;
}

/**
 * Makes references to one resource lead to the other, in the tree itself. References that name a version, logical ones and those
 * to contained resources stay. An absolute reference stays absolute.
 *
 * @param resource a tree that the caller may change
 * @returns how many references were changed
 */
export function renameReferences(resource: Resource, { from, to, own }: Renaming, walk: ReferenceWalk): number {
  let count = 0;
  walk(resource, (reference) => {
    const text = reference['reference'];
    const named = own.readLocal(text);
    if (named?.type !== from.type || named.id !== from.id || named.version !== undefined) return;
    const before = (text as string).slice(0, -`${from.type}/${from.id}`.length);
    (reference as Record<string, unknown>)['reference'] = `${before}${to.type}/${to.id}`;
    count++;
  });
  return count;
}
