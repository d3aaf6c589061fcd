import { visit, type DefinitionNode, type FragmentDefinitionNode, type OperationDefinitionNode } from 'graphql';

/** An operation, and the fragments of its document by name. */
export interface OperationOfDocument {
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

/** The operation and the fragments that it uses. */
export function reachable({ operation, fragments }: OperationOfDocument): readonly DefinitionNode[] {
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
