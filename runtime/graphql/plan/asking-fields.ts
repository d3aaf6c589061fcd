import {
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type DefinitionNode,
  type FieldNode,
  type GraphQLField,
  type OperationDefinitionNode,
  type SelectionNode,
} from 'graphql';

import { reachable } from '../document/reachable.js';
import type { ValidQuery } from '../document/read-document.js';
import { pathArgument } from '../document/rules.js';
import { factsOf, type FieldFacts } from '../schema/facts.js';

/** A field that looks something up, or has arguments. */
export interface AskingField {
  readonly node: FieldNode;
  readonly definition: GraphQLField<unknown, unknown>;
  readonly facts: FieldFacts;
  /** Name of the type around it. */
  readonly parent: string;
  /** The selections, itself among them, whose directives say whether it is there. */
  readonly guards: readonly SelectionNode[];
}

/** What is the same for all requests that send a document, as long as that is known. */
const known = new WeakMap<OperationDefinitionNode, readonly AskingField[]>();

/** The fields of an operation, and of the fragments that it uses, that look something up or have arguments. */
export function askingFields(query: Pick<ValidQuery, 'operation' | 'fragments' | 'schema'>): readonly AskingField[] {
  const before = known.get(query.operation);
  if (before !== undefined) return before;
  const found = reachable(query).flatMap((each) => fieldsIn(each, query));
  known.set(query.operation, found);
  return found;
}

function fieldsIn(root: DefinitionNode, { schema }: Pick<ValidQuery, 'schema'>): readonly AskingField[] {
  const found: AskingField[] = [];
  const guards: SelectionNode[] = [];
  const info = new TypeInfo(schema);
  const isGuard = (node: SelectionNode): boolean =>
    node.directives?.some(({ name }) => name.value === 'skip' || name.value === 'include') === true;
  visit(
    root,
    visitWithTypeInfo(info, {
      enter(node) {
        if (node.kind !== Kind.FIELD && node.kind !== Kind.INLINE_FRAGMENT) return;
        if (isGuard(node)) guards.push(node);
        if (node.kind !== Kind.FIELD) return;
        const definition = info.getFieldDef();
        const facts = factsOf(definition);
        if (definition === null || definition === undefined || facts === undefined) return;
        const asks =
          facts.is === 'read' ||
          facts.is === 'search' ||
          node.arguments?.length !== 0 ||
          pathArgument(node) !== undefined;
        const parent = info.getParentType()?.name ?? '';
        if (asks) found.push({ node, definition, facts, parent, guards: [...guards] });
      },
      leave(node) {
        if (guards.at(-1) === node) guards.pop();
      },
    }),
  );
  return found;
}
