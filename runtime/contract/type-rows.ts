import type { ElementRow, TypeRow } from './types.js';

/** Rows of types by name. */
export type TypeRows = ReadonlyMap<string, TypeRow>;

const known = new WeakMap<readonly TypeRow[], TypeRows>();

/** Returns the rows by name: the same map for the same rows. */
export function rowsByName(types: readonly TypeRow[]): TypeRows {
  let rows = known.get(types);
  if (rows === undefined) known.set(types, (rows = new Map(types.map((row) => [row.name, row]))));
  return rows;
}

/** Returns a type and those that it specializes, the nearest first; nothing for a name that no row has. */
export function lineOf(type: string, rows: TypeRows): readonly TypeRow[] {
  const line: TypeRow[] = [];
  for (let row = rows.get(type); row !== undefined; row = row.base === undefined ? undefined : rows.get(row.base)) {
    line.push(row);
  }
  return line;
}

/** Returns the elements of a type: those of its bases first, which its row leaves out. */
export function elementsOf(type: string, rows: TypeRows): readonly ElementRow[] {
  return lineOf(type, rows)
    .toReversed()
    .flatMap(({ elements }) => elements);
}
