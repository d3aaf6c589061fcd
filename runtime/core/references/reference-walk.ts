import type { Tables } from '../../contract/tables.js';
import { createReferenceWalk, type ReferenceWalk } from '../../path/reference-walk.js';

const walks = new WeakMap<object, ReferenceWalk>();

/** The walk through the references of resources of these tables, made on first use. */
export function referenceWalk(tables: Pick<Tables, 'types' | 'primitives'>): ReferenceWalk {
  let walk = walks.get(tables.types);
  if (walk === undefined) walks.set(tables.types, (walk = createReferenceWalk(tables)));
  return walk;
}
