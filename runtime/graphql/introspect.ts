import {
  GraphQLBoolean,
  GraphQLString,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  getArgumentValues,
  getNullableType,
  isListType,
  isObjectType,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
} from 'graphql';

import type { JsonValue } from '../fhir/resource.js';
import type { ValidQuery } from './document/read-document.js';
import { textValue } from './execute/written-text.js';
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
  planner: Pick<Planner, 'collect'>,
  type: string | undefined,
  tables: SchemaTables,
): Introspector {
  let schema: LazySchema | undefined;
  const open = (): Introspection => {
    schema ??= describedTypes(tables).schemaOf(type);
    return new Introspection(query, planner, schema);
  };
  return {
    value: ({ name, nodes }) => textValue([...open().text(undefined, definitionOf(name), nodes)].join('')),
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
  /** The answer as `textValue`. */
  value(field: PlannedField): JsonValue;
  /** The answer that has these fields alone, one type after another. */
  text(fields: readonly PlannedField[]): Iterable<string>;
}

function definitionOf(name: string): Field {
  return name === SchemaMetaFieldDef.name ? SchemaMetaFieldDef : TypeMetaFieldDef;
}

/** Fields that are selected of a value. */
interface ObjectKind {
  readonly is: 'object';
  readonly type: GraphQLObjectType;
  readonly fields: Readonly<Record<string, Field>>;
  /** What there are many of that are one object: arguments, and types where others name them. */
  readonly isShared: boolean;
}

type Kinds = { readonly is: 'list'; readonly of: GraphQLOutputType } | { readonly is: 'value' | 'text' } | ObjectKind;

function toKind(type: GraphQLOutputType): Kinds {
  const plain = getNullableType(type);
  if (isListType(plain)) return { is: 'list', of: plain.ofType as GraphQLOutputType };
  if (plain === GraphQLString || plain === GraphQLBoolean) return { is: 'value' };
  if (isObjectType(plain)) {
    const isShared = plain.name === '__Type' || plain.name === '__InputValue';
    return { is: 'object', type: plain, fields: plain.getFields(), isShared };
  }
  return { is: plain.toString().startsWith('__') ? 'value' : 'text' };
}

/** Fields of the answer with one name, merged. */
type Nodes = readonly FieldNode[];

/** A field of the answer, below another. */
interface Below {
  /** Its name in the answer, and a colon. */
  readonly head: string;
  readonly nodes: Nodes;
  /** Absent: it is `__typename`. */
  readonly definition: Field | undefined;
}

/** What is selected of values of a type, with what was written of it already. */
interface Selected {
  readonly below: readonly Below[];
  /** Texts of values that come again; absent: they are written each time, for they are long and come once. */
  readonly written: Map<unknown, string> | undefined;
}

/** Fields of types that are long lists. */
const LONG: ReadonlySet<string> = new Set(['fields', 'inputFields', 'enumValues', 'possibleTypes', 'interfaces']);

/** Writes the answer as text at once: the same arguments and names of types come thousands of times. */
class Introspection {
  readonly #kinds = new Map<GraphQLOutputType, Kinds>();
  readonly #selected = new Map<Nodes, Map<string, Selected>>();
  readonly #args = new Map<FieldNode, Record<string, unknown>>();
  /** Texts of lists of arguments. */
  readonly #lists = new Map<Nodes, Map<unknown, string>>();

  constructor(
    private readonly query: ValidQuery,
    private readonly planner: Pick<Planner, 'collect'>,
    private readonly schema: LazySchema,
  ) {}

  /** The text of a field's value, in pieces: each item of a list that is not within another is one. */
  *text(source: unknown, definition: Field, nodes: Nodes): Iterable<string> {
    const value = this.#resolve(source, definition, nodes);
    const kind = this.#kindOf(definition.type);
    if (value === null || value === undefined || (kind.is !== 'list' && kind.is !== 'object')) {
      yield this.#write(definition.type, value, nodes);
      return;
    }
    let before = kind.is === 'list' ? '[' : '{';
    if (kind.is === 'list') {
      for (const each of value as Iterable<unknown>) {
        yield before + this.#write(kind.of, each, nodes);
        before = ',';
      }
    } else {
      for (const { head, nodes: inner, definition: field } of this.#select(kind, nodes).below) {
        yield before + head;
        if (field === undefined) yield JSON.stringify(kind.type.name);
        else yield* this.text(value, field, inner);
        before = ',';
      }
    }
    // Nothing was in it.
    if (before !== ',') yield before;
    yield kind.is === 'list' ? ']' : '}';
  }

  #resolve(source: unknown, definition: Field, nodes: Nodes): unknown {
    const [node] = nodes as [FieldNode];
    let args = this.#args.get(node);
    if (args === undefined) this.#args.set(node, (args = getArgumentValues(definition, node, this.query.variables)));
    const { schema } = this;
    return definition.resolve?.(source, args, undefined, { schema } as unknown as GraphQLResolveInfo);
  }

  #field(source: unknown, { definition, nodes }: Below, owner: GraphQLObjectType): string {
    if (definition === undefined) return JSON.stringify(owner.name);
    const list = definition.name === 'args' ? (source as Partial<Field>).args : undefined;
    if (list === undefined) return this.#write(definition.type, this.#resolve(source, definition, nodes), nodes);
    let written = this.#lists.get(nodes);
    if (written === undefined) this.#lists.set(nodes, (written = new Map()));
    let text = written.get(list);
    if (text === undefined) {
      text = this.#write(definition.type, this.#resolve(source, definition, nodes), nodes);
      written.set(list, text);
    }
    return text;
  }

  #write(type: GraphQLOutputType, value: unknown, nodes: Nodes): string {
    if (value === null || value === undefined) return 'null';
    const kind = this.#kindOf(type);
    switch (kind.is) {
      case 'list': {
        let text = '';
        for (const each of value as Iterable<unknown>) {
          text += (text === '' ? '' : ',') + this.#write(kind.of, each, nodes);
        }
        return `[${text}]`;
      }
      case 'value':
        return JSON.stringify(value);
      case 'text':
        return JSON.stringify(String(value));
      case 'object':
        return this.#object(kind, value, nodes);
    }
  }

  #object(kind: ObjectKind, value: unknown, nodes: Nodes): string {
    const { below, written } = this.#select(kind, nodes);
    const before = written?.get(value);
    if (before !== undefined) return before;
    let text = '';
    for (const each of below) text += (text === '' ? '' : ',') + each.head + this.#field(value, each, kind.type);
    text = `{${text}}`;
    written?.set(value, text);
    return text;
  }

  /** The types of introspection are few, and the library's tests of what they are take long. */
  #kindOf(type: GraphQLOutputType): Kinds {
    let kind = this.#kinds.get(type);
    if (kind === undefined) this.#kinds.set(type, (kind = toKind(type)));
    return kind;
  }

  /** What is selected below some fields; the same for all values of a type. */
  #select({ type, fields, isShared }: ObjectKind, nodes: Nodes): Selected {
    let byType = this.#selected.get(nodes);
    if (byType === undefined) this.#selected.set(nodes, (byType = new Map()));
    let found = byType.get(type.name);
    if (found === undefined) {
      const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
      const below = [...this.planner.collect(sets, type.name)].map(([key, inner]): Below => {
        const name = inner[0]!.name.value;
        const definition = name === '__typename' ? undefined : fields[name]!;
        return { head: `${JSON.stringify(key)}:`, nodes: inner, definition };
      });
      const isLong = below.some(({ definition }) => definition !== undefined && LONG.has(definition.name));
      byType.set(type.name, (found = { below, written: isShared && !isLong ? new Map() : undefined }));
    }
    return found;
  }
}
