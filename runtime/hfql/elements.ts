import type { ElementRow, TypeRow } from '../contract/index.js';

/** What a table does not show: it would have no columns of its own. */
const HIDDEN: ReadonlySet<string> = new Set(['extension', 'modifierExtension']);

/** Names of the elements of a resource type that are columns of its table, in code-point order. */
export function columnsOf(type: string, types: readonly TypeRow[]): readonly string[] {
  return allElements(type, types)
    .map(({ name }) => name)
    .filter((name) => !HIDDEN.has(name))
    .sort();
}

function allElements(type: string, types: readonly TypeRow[]): readonly ElementRow[] {
  const row = types.find(({ name }) => name === type);
  if (row === undefined) return [];
  return [...(row.base === undefined ? [] : allElements(row.base, types)), ...row.elements];
}
