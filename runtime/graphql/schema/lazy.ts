import {
  GraphQLInterfaceType,
  GraphQLObjectType,
  GraphQLSchema,
  type GraphQLAbstractType,
  type GraphQLArgument,
  type GraphQLDirective,
  type GraphQLField,
  type GraphQLFieldMap,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
} from 'graphql';

/** A field, as far as those of resources differ. */
export interface FieldConfig {
  readonly type: GraphQLOutputType;
  readonly args?: readonly GraphQLArgument[];
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** How a field is made when it is first asked for. */
export type FieldMaker = () => FieldConfig;

/** The fields of a type, by name, in their order. */
export type FieldMakers = ReadonlyMap<string, FieldMaker>;

type Fields = GraphQLFieldMap<unknown, unknown>;

/**
 * Fields that are made one by one as they are asked for: a type of R5 has hundreds, with thousands of arguments, and a query needs
 * ten of them.
 */
function lazyFields(makers: FieldMakers): Fields {
  const fields = Object.create(null) as Fields;
  for (const [name, make] of makers) {
    let made: GraphQLField<unknown, unknown> | undefined;
    const get = (): GraphQLField<unknown, unknown> => (made ??= buildField(name, make()));
    Object.defineProperty(fields, name, { enumerable: true, get });
  }
  return fields;
}

/** Fields that are all asked for, once. */
function allFields(makers: FieldMakers): Fields {
  const fields = Object.create(null) as Fields;
  for (const [name, make] of makers) fields[name] = buildField(name, make());
  return fields;
}

const NO_EXTENSIONS = {};

/** One field as the library has it. Its own constructor checks each name and argument again, which takes most of the time. */
function buildField(name: string, { type, args = [], extensions }: FieldConfig): GraphQLField<unknown, unknown> {
  const unused = { description: undefined, deprecationReason: undefined, astNode: undefined };
  return { name, type, args, extensions, ...unused };
}

/** One argument as the library has it. */
export function buildArgument(name: string, type: GraphQLInputType): GraphQLArgument {
  const unused = { description: undefined, defaultValue: undefined, deprecationReason: undefined, astNode: undefined };
  return { name, type, extensions: NO_EXTENSIONS, ...unused };
}

/** Configuration of a lazy type. */
export interface LazyConfig {
  readonly name: string;
  readonly description?: string;
  readonly makers: () => FieldMakers;
  readonly interfaces?: () => readonly GraphQLInterfaceType[];
  /** Whether fields that were made stay in memory. */
  readonly isKept: boolean;
}

/** What the library wants of a type whose fields come later. */
function bareOf({ name, description, interfaces }: LazyConfig) {
  return {
    name,
    ...(description !== undefined && { description }),
    interfaces: () => [...(interfaces?.() ?? [])],
    fields: {},
  };
}

function fieldsOf({ isKept, makers }: LazyConfig): () => Fields {
  let kept: Fields | undefined;
  return () => (isKept ? (kept ??= lazyFields(makers())) : allFields(makers()));
}

/** An object type with lazy fields. */
export class LazyObject extends GraphQLObjectType<unknown, unknown> {
  readonly #fields: () => Fields;

  constructor(config: LazyConfig) {
    super(bareOf(config));
    this.#fields = fieldsOf(config);
  }

  override getFields(): Fields {
    return this.#fields();
  }
}

/** An interface type with lazy fields. */
export class LazyInterface extends GraphQLInterfaceType {
  readonly #fields: () => Fields;

  constructor(config: LazyConfig) {
    super(bareOf(config));
    this.#fields = fieldsOf(config);
  }

  override getFields(): Fields {
    return this.#fields();
  }
}

/** Where the types of a schema come from. */
export interface TypeSource {
  readonly names: readonly string[];
  typeOf(name: string): GraphQLNamedType | undefined;
  /** Names of the object types of an interface. */
  possibleTypes(name: string): readonly string[];
}

/** A schema whose types are made as they are asked for, on which the library's rules work as on any other. */
export class LazySchema extends GraphQLSchema {
  #map: ReturnType<GraphQLSchema['getTypeMap']> | undefined;

  constructor(
    private readonly source: TypeSource,
    private readonly root: GraphQLObjectType,
    directives: readonly GraphQLDirective[],
  ) {
    super({ assumeValid: true, directives: [...directives] });
  }

  override getQueryType(): GraphQLObjectType {
    return this.root;
  }

  override getType(name: string): GraphQLNamedType | undefined {
    if (name === this.root.name) return this.root;
    return this.source.typeOf(name) ?? super.getTypeMap()[name];
  }

  override getTypeMap(): ReturnType<GraphQLSchema['getTypeMap']> {
    if (this.#map !== undefined) return this.#map;
    const map = Object.create(null) as ReturnType<GraphQLSchema['getTypeMap']>;
    const own = super.getTypeMap();
    for (const name of new Set([this.root.name, ...this.source.names, ...Object.keys(own)])) {
      Object.defineProperty(map, name, { enumerable: true, get: () => this.getType(name) });
    }
    return (this.#map = map);
  }

  override getPossibleTypes(abstract: GraphQLAbstractType): readonly GraphQLObjectType[] {
    return this.source.possibleTypes(abstract.name).map((name) => this.getType(name) as GraphQLObjectType);
  }

  override isSubType(abstract: GraphQLAbstractType, maybe: GraphQLObjectType | GraphQLInterfaceType): boolean {
    return (
      this.source.possibleTypes(abstract.name).includes(maybe.name) ||
      maybe.getInterfaces().some(({ name }) => name === abstract.name)
    );
  }
}
