import { visit, type DefinitionNode } from 'graphql';

import type { ValidQuery } from './read-document.js';

/** The operation and the fragments that it uses. */
export function reachable({
  operation,
  fragments,
}: Pick<ValidQuery, 'operation' | 'fragments'>): readonly DefinitionNode[] {
  const found = new Set<DefinitionNode>([operation]);
  // The set grows during the loop.
  for (const each of found) {
    visit(each, {
      FragmentSpread({ name }) {
        const fragment = fragments.get(name.value);
        if (fragment !== undefined) found.add(fragment);
      },
    });
  }
  return [...found];
}
