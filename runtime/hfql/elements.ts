import type { TypeRow } from '../contract/index.js';
import { elementsOf, rowsByName } from '../contract/type-rows.js';

/** What a table does not show: it would have no columns of its own. */
const HIDDEN: ReadonlySet<string> = new Set(['extension', 'modifierExtension']);

/** Names of the elements of a resource type that are columns of its table, in code-point order. */
export function columnsOf(type: string, types: readonly TypeRow[]): readonly string[] {
  return elementsOf(type, rowsByName(types))
    .map(({ name }) => name)
    .filter((name) => !HIDDEN.has(name))
    .sort();
}
