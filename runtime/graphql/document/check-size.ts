import { Kind, type DocumentNode, type FragmentDefinitionNode, type SelectionSetNode } from 'graphql';

import { documentError } from '../errors.js';
import { QUERY_LIMITS } from '../limits.js';

/** The size of a selection, fragments included as often as they are spread. */
interface Size {
  readonly fields: number;
  readonly depth: number;
  readonly aliases: number;
}

const NONE: Size = { fields: 0, depth: 0, aliases: 0 };

/**
 * Refuses a document that is too large, before it is checked: checking compares fields with each other.
 *
 * @throws GraphQLError `graphql-limit`
 */
export function checkSize(document: DocumentNode): void {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const each of document.definitions) {
    if (each.kind === Kind.FRAGMENT_DEFINITION) fragments.set(each.name.value, each);
  }
  const known = new Map<SelectionSetNode, Size>();
  const open = new Set<SelectionSetNode>();
  const sizeOf = (set: SelectionSetNode): Size => {
    const before = known.get(set);
    if (before !== undefined) return before;
    // A fragment within itself is an error that the rules report.
    if (open.has(set) || open.size > LEVELS) return NONE;
    open.add(set);
    let [fields, depth, aliases] = [0, 0, 0];
    for (const each of set.selections) {
      let inner: Size;
      if (each.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = fragments.get(each.name.value);
        inner = fragment === undefined ? NONE : sizeOf(fragment.selectionSet);
      } else if (each.kind === Kind.INLINE_FRAGMENT) inner = sizeOf(each.selectionSet);
      else {
        const below = each.selectionSet === undefined ? NONE : sizeOf(each.selectionSet);
        inner = {
          fields: below.fields + 1,
          depth: below.depth + 1,
          aliases: below.aliases + (each.alias === undefined ? 0 : 1),
        };
      }
      fields += inner.fields;
      aliases += inner.aliases;
      depth = Math.max(depth, inner.depth);
    }
    open.delete(set);
    const size = { fields, depth, aliases };
    known.set(set, size);
    return size;
  };
  for (const each of document.definitions) {
    if (each.kind !== Kind.OPERATION_DEFINITION && each.kind !== Kind.FRAGMENT_DEFINITION) continue;
    const size = sizeOf(each.selectionSet);
    for (const name of ['fields', 'depth', 'aliases'] as const) {
      if (size[name] <= QUERY_LIMITS[name]) continue;
      const text = `The query has ${TEXTS[name](size[name])}; ${QUERY_LIMITS[name]} are allowed`;
      throw documentError(text, each, 'graphql-limit');
    }
  }
}

/** Selections within each other that are followed: the parser allows more than the stack does. */
const LEVELS = 1000;

const TEXTS: Readonly<Record<keyof Size, (count: number) => string>> = {
  fields: (count) => `${count} fields, those of fragments included`,
  depth: (count) => `${count} levels of fields`,
  aliases: (count) => `${count} aliases`,
};
