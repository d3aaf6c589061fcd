import {
  Kind,
  TypeInfo,
  getNamedType,
  isInterfaceType,
  isObjectType,
  visit,
  visitWithTypeInfo,
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type InlineFragmentNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';

import { factsOf } from '../schema/facts.js';
import type { LazySchema } from '../schema/lazy.js';
import { RESOURCE, type TypeCatalog } from '../schema/schema.js';

/** Where a field notes the type that its argument `type` names. */
const ONLY = Symbol('only');

/** The type to which the argument `type` of `Reference.resource` limits a field; undefined: any. */
export function onlyType(node: FieldNode): string | undefined {
  return (node as { [ONLY]?: string })[ONLY];
}

/** A document as the rules of GraphQL understand it. */
export interface AdaptedDocument {
  readonly document: DocumentNode;
  /** Whether it is the same with any variables. */
  readonly isFixed: boolean;
}

/**
 * Writes what FHIR allows in the way that the rules of GraphQL understand:
 *
 * - `id: example`, `_id: 1`: a word or a number where a text belongs,
 * - `resource(type: Patient) { birthDate }`: fields of a type, as an inline fragment on it; several such fields are allowed,
 * - `resource { active }`: fields of the types that a reference may lead to, as inline fragments on each that has them.
 *
 * https://hl7.org/fhir/R5/graphql.html#references
 *
 * @param variables as sent: the argument `type` may be one */
export function adaptDocument(
  document: DocumentNode,
  schema: LazySchema,
  catalog: TypeCatalog,
  variables: Readonly<Record<string, unknown>>,
): AdaptedDocument {
  let isFixed = true;
  const info = new TypeInfo(schema);
  const fields: (GraphQLField<unknown, unknown> | null | undefined)[] = [];
  const defaults = new Map<string, ValueNode>();
  const text = (node: ValueNode & { readonly value: string | boolean }): ValueNode | undefined => {
    const type = info.getInputType();
    const { name } = (type && getNamedType(type)) ?? { name: '' };
    return name === 'String' || name === 'ID'
      ? { kind: Kind.STRING, value: String(node.value), ...located(node) }
      : undefined;
  };
  const typeNamed = (value: ValueNode): string | undefined => {
    if (value.kind === Kind.STRING || value.kind === Kind.ENUM) return value.value;
    if (value.kind !== Kind.VARIABLE) return undefined;
    isFixed = false;
    const sent = variables[value.name.value];
    if (typeof sent === 'string') return sent;
    const fallback = defaults.get(value.name.value);
    return fallback === undefined || fallback.kind === Kind.VARIABLE ? undefined : typeNamed(fallback);
  };
  const adapted = visit(
    document,
    visitWithTypeInfo(info, {
      VariableDefinition(node) {
        if (node.defaultValue !== undefined) defaults.set(node.variable.name.value, node.defaultValue);
      },
      Field: {
        enter(node) {
          const field = info.getFieldDef();
          fields.push(field);
          if (factsOf(field)?.is !== 'target' || node.selectionSet === undefined) return undefined;
          const argument = node.arguments?.find(({ name }) => name.value === 'type');
          const type = argument && typeNamed(argument.value);
          if (argument === undefined || type === undefined) return undefined;
          // The new node is not entered as a field again.
          return onType(node, argument, type);
        },
        leave() {
          fields.pop();
        },
      },
      SelectionSet(node) {
        const parent = info.getParentType();
        if (parent?.name !== RESOURCE || !isInterfaceType(parent)) return undefined;
        const known = parent.getFields();
        const isStrange = (each: SelectionNode): each is FieldNode =>
          each.kind === Kind.FIELD && !each.name.value.startsWith('__') && !Object.hasOwn(known, each.name.value);
        if (!node.selections.some(isStrange)) return undefined;
        const types = targetsOf(fields) ?? catalog.tables.resourceTypes;
        const selections = node.selections.flatMap((each) => (isStrange(each) ? spread(each, types, schema) : [each]));
        return { ...node, selections };
      },
      EnumValue: text,
      IntValue: text,
      FloatValue: text,
      BooleanValue: text,
    }),
  );
  return { document: adapted, isFixed };
}

/** The types that the reference around `resource` may point to; undefined: any, or the element is not known here. */
function targetsOf(
  fields: readonly (GraphQLField<unknown, unknown> | null | undefined)[],
): readonly string[] | undefined {
  const [target, ...around] = [...fields].reverse().map(factsOf);
  if (target?.is !== 'target') return undefined;
  // A CodeableReference holds the reference.
  for (const each of around.slice(0, 2)) {
    if (each?.is === 'complex' && each.targets !== undefined) {
      return each.targets.includes(RESOURCE) ? undefined : each.targets;
    }
  }
  return undefined;
}

function onType(node: FieldNode, argument: ArgumentNode, type: string): FieldNode {
  const fragment: InlineFragmentNode = {
    kind: Kind.INLINE_FRAGMENT,
    typeCondition: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: type }, ...located(argument.value) },
    selectionSet: node.selectionSet!,
  };
  return {
    ...node,
    arguments: node.arguments!.filter((each) => each !== argument),
    selectionSet: { kind: Kind.SELECTION_SET, selections: [fragment], ...located(node.selectionSet!) },
    [ONLY]: type,
  } as FieldNode;
}

/** A field on each type that has it; the field itself where none has, so that the rules report it. */
function spread(field: FieldNode, types: readonly string[], schema: LazySchema): readonly SelectionNode[] {
  const found = types.filter((type) => hasField(schema.getType(type), field));
  if (found.length === 0) return [field];
  return found.map((type): InlineFragmentNode => ({
    kind: Kind.INLINE_FRAGMENT,
    typeCondition: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: type } },
    selectionSet: { kind: Kind.SELECTION_SET, selections: [field] },
    ...located(field),
  }));
}

/** Whether a type has a field, and what is selected of it. */
function hasField(type: unknown, node: FieldNode): boolean {
  if (node.name.value === '__typename') return true;
  if (!isObjectType(type) && !isInterfaceType(type)) return false;
  const fields = type.getFields();
  const field = Object.hasOwn(fields, node.name.value) ? fields[node.name.value] : undefined;
  if (field === undefined) return false;
  const of = getNamedType(field.type);
  const isComposite = isObjectType(of) || isInterfaceType(of);
  if (isComposite !== (node.selectionSet !== undefined)) return false;
  // Below a resource of any type this is decided there.
  return of.name === RESOURCE || allFields(node.selectionSet).every((each) => hasField(of, each));
}

function allFields(set: SelectionSetNode | undefined): readonly FieldNode[] {
  return (set?.selections ?? []).filter((each): each is FieldNode => each.kind === Kind.FIELD);
}

function located(node: { readonly loc?: FieldNode['loc'] }): { readonly loc?: NonNullable<FieldNode['loc']> } {
  return node.loc === undefined ? {} : { loc: node.loc };
}
