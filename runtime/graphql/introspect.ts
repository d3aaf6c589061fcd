import {
  GraphQLBoolean,
  GraphQLString,
  Kind,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  getArgumentValues,
  getNullableType,
  isListType,
  isObjectType,
  isScalarType,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLScalarType,
  type SelectionSetNode,
} from 'graphql';

import type { JsonObject, JsonValue } from '../fhir/resource.js';
import type { ValidQuery } from './document/read-document.js';
import type { Planner, PlannedField } from './plan/planner.js';
import type { LazySchema } from './schema/lazy.js';
import { describedTypes, type SchemaTables } from './schema/schema.js';

type Field = GraphQLField<unknown, unknown>;

/**
 * Answers `__schema` and `__type`. Types are made for this one answer, one after another, and nothing of them stays in memory.
 * https://spec.graphql.org/October2021/#sec-Introspection
 *
 * @param type of the instance that the query is about; absent: the system
 */
export function introspector(
  query: ValidQuery,
  planner: Pick<Planner, 'isIncluded'>,
  type: string | undefined,
  tables: SchemaTables,
): Introspector {
  let schema: LazySchema | undefined;
  const open = (): Introspection => {
    schema ??= describedTypes(tables).schemaOf(type);
    return new Introspection(query, planner, schema);
  };
  return {
    value: ({ name, nodes }) => open().field(undefined, definitionOf(name), nodes),
    *text(fields) {
      const introspection = open();
      for (const [i, { key, name, nodes }] of fields.entries()) {
        yield `${i === 0 ? '{"data":{' : ','}${JSON.stringify(key)}:`;
        yield* introspection.text(undefined, definitionOf(name), nodes);
      }
      yield '}}';
    },
  };
}

/** Answers fields of the schema itself. */
export interface Introspector {
  value(field: PlannedField): JsonValue;
  /** The answer that has these fields alone, one type after another. */
  text(fields: readonly PlannedField[]): Iterable<string>;
}

function definitionOf(name: string): Field {
  return name === SchemaMetaFieldDef.name ? SchemaMetaFieldDef : TypeMetaFieldDef;
}

/** Values with fields. */
interface ObjectKind {
  readonly is: 'object';
  readonly type: GraphQLObjectType;
  readonly fields: Readonly<Record<string, Field>>;
}

type Kinds = { readonly is: 'list'; readonly of: GraphQLOutputType } | { readonly is: 'value' | 'text' } | ObjectKind;

function toKind(type: GraphQLOutputType): Kinds {
  const plain = getNullableType(type);
  if (isListType(plain)) return { is: 'list', of: plain.ofType as GraphQLOutputType };
  if (plain === GraphQLString || plain === GraphQLBoolean) return { is: 'value' };
  if (isObjectType(plain)) return { is: 'object', type: plain, fields: plain.getFields() };
  return { is: plain.toString().startsWith('__') ? 'value' : 'text' };
}

class Introspection {
  readonly #scalars = new WeakMap<readonly FieldNode[], Map<GraphQLScalarType, JsonValue>>();
  readonly #kinds = new Map<GraphQLOutputType, Kinds>();
  readonly #fields = new WeakMap<SelectionSetNode, Map<string, ReadonlyMap<string, readonly FieldNode[]>>>();
  readonly #args = new WeakMap<FieldNode, Record<string, unknown>>();

  constructor(
    private readonly query: ValidQuery,
    private readonly planner: Pick<Planner, 'isIncluded'>,
    private readonly schema: LazySchema,
  ) {}

  field(source: unknown, definition: Field, nodes: readonly FieldNode[]): JsonValue {
    return this.#complete(definition.type, this.#resolve(source, definition, nodes), nodes);
  }

  /** The same as text, in pieces: each item of a list that is not within another is one. */
  *text(source: unknown, definition: Field, nodes: readonly FieldNode[]): Iterable<string> {
    const value = this.#resolve(source, definition, nodes);
    const kind = this.#kindOf(definition.type);
    const isNested = kind.is === 'list' || kind.is === 'object';
    if (value === null || value === undefined || !isNested) {
      yield JSON.stringify(this.#complete(definition.type, value, nodes));
      return;
    }
    let before = kind.is === 'list' ? '[' : '{';
    if (kind.is === 'list') {
      for (const each of value as Iterable<unknown>) {
        yield before + JSON.stringify(this.#complete(kind.of, each, nodes));
        before = ',';
      }
    } else {
      for (const [key, below] of this.#below(kind.type, nodes)) {
        const [{ name }] = below as [FieldNode];
        yield `${before}${JSON.stringify(key)}:`;
        if (name.value === '__typename') yield JSON.stringify(kind.type.name);
        else yield* this.text(value, kind.fields[name.value]!, below);
        before = ',';
      }
    }
    // Nothing was in it.
    if (before !== ',') yield before;
    yield kind.is === 'list' ? ']' : '}';
  }

  #resolve(source: unknown, definition: Field, nodes: readonly FieldNode[]): unknown {
    const [node] = nodes as [FieldNode];
    let args = this.#args.get(node);
    if (args === undefined) this.#args.set(node, (args = getArgumentValues(definition, node, this.query.variables)));
    const { schema } = this;
    return definition.resolve?.(source, args, undefined, { schema } as unknown as GraphQLResolveInfo);
  }

  #complete(type: GraphQLOutputType, value: unknown, nodes: readonly FieldNode[]): JsonValue {
    if (value === null || value === undefined) return null;
    const kind = this.#kindOf(type);
    switch (kind.is) {
      case 'list':
        return Array.from(value as Iterable<unknown>, (each) => this.#complete(kind.of, each, nodes));
      case 'value':
        return value as JsonValue;
      case 'text':
        return String(value);
      case 'object':
        return isScalarType(value) ? this.#scalar(kind, value, nodes) : this.#object(kind, value, nodes);
    }
  }

  /** Thousands of arguments are of the same scalars. */
  #scalar(kind: ObjectKind, scalar: GraphQLScalarType, nodes: readonly FieldNode[]): JsonValue {
    const known = this.#scalars.get(nodes) ?? new Map<GraphQLScalarType, JsonValue>();
    this.#scalars.set(nodes, known);
    let found = known.get(scalar);
    if (found === undefined) known.set(scalar, (found = this.#object(kind, scalar, nodes)));
    return found;
  }

  #object(kind: ObjectKind, value: unknown, nodes: readonly FieldNode[]): JsonValue {
    const object: JsonObject = {};
    for (const [key, below] of this.#below(kind.type, nodes)) {
      const [{ name }] = below as [FieldNode];
      object[key] = name.value === '__typename' ? kind.type.name : this.field(value, kind.fields[name.value]!, below); // prettier-ignore
    }
    return object;
  }

  /** The types of introspection are few, and the library's tests of what they are take long. */
  #kindOf(type: GraphQLOutputType): Kinds {
    let kind = this.#kinds.get(type);
    if (kind === undefined) this.#kinds.set(type, (kind = toKind(type)));
    return kind;
  }

  /** The fields below some, merged; the same for all values of a type. */
  #below(type: GraphQLObjectType, nodes: readonly FieldNode[]): ReadonlyMap<string, readonly FieldNode[]> {
    const [first] = nodes as [FieldNode];
    const key = first.selectionSet!;
    let byType = this.#fields.get(key);
    if (byType === undefined) this.#fields.set(key, (byType = new Map()));
    let found = byType.get(type.name);
    if (found === undefined) {
      const collected = new Map<string, FieldNode[]>();
      for (const { selectionSet } of nodes)
        if (selectionSet !== undefined) this.#collect(selectionSet, type, collected);
      byType.set(type.name, (found = collected));
    }
    return found;
  }

  #collect(set: SelectionSetNode, type: GraphQLObjectType, out: Map<string, FieldNode[]>): void {
    for (const each of set.selections) {
      if (!this.planner.isIncluded(each)) continue;
      if (each.kind === Kind.FIELD) {
        const key = (each.alias ?? each.name).value;
        out.set(key, [...(out.get(key) ?? []), each]);
        continue;
      }
      const fragment = each.kind === Kind.FRAGMENT_SPREAD ? this.query.fragments.get(each.name.value) : each;
      const condition = fragment?.typeCondition?.name.value;
      if (fragment !== undefined && (condition === undefined || condition === type.name)) {
        this.#collect(fragment.selectionSet, type, out);
      }
    }
  }
}
