import type { GraphQLInterfaceType, GraphQLObjectType } from 'graphql';
import {
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
} from 'graphql';

import { jsonName } from '../../contract/json-name.js';
import { elementsOf, rowsByName } from '../../contract/type-rows.js';
import type { SearchRow } from '../../contract/search.js';
import type { Tables } from '../../contract/tables.js';
import type { ElementRow, TypeRow } from '../../contract/types.js';
import { FILTER } from '../../search/filter/read-filter.js';
import { searchDefinitions } from '../../indexing/definitions.js';
import { DIRECTIVES } from './directives.js';
import {
  LIST_ARGUMENTS,
  RESULT_ARGUMENTS,
  SEARCH_ARGUMENTS,
  argumentName,
  searchArguments,
  type FieldFacts,
} from './facts.js';
import {
  LazyInterface,
  LazyObject,
  LazySchema,
  buildArgument,
  type FieldConfig,
  type FieldMaker,
  type TypeSource,
} from './lazy.js';
import { primitiveScalar, searchScalar } from './scalars.js';
import { memoizeWeak } from '../../fhir/memory/memoize.js';

/** The tables that a schema is made from. */
export type SchemaTables = Pick<Tables, 'types' | 'primitives' | 'resourceTypes' | 'search'>;

/** How the fields of a schema are made. */
interface Options {
  /** Whether what was made stays: for queries, which ask for the same again, and not for introspection, which asks for all once. */
  readonly isKept: boolean;
  /** Whether each resource type has searches for all types that could refer to it, with all their parameters. */
  readonly isWhole: boolean;
}

const ROOT = 'Query';
/** In rows the type of what is beside a primitive. */
const ELEMENT = 'Element';
const REFERENCE = 'Reference';
/** Name of the interface that all resource types have, in rows and in the schema. */
export const RESOURCE = 'Resource';

const NEEDED_ID = new GraphQLNonNull(GraphQLID);
const NEEDED_CODE = new GraphQLNonNull(primitiveScalar('code'));

/** The types of a set of tables, made as they are asked for. */
export class TypeCatalog implements TypeSource {
  readonly #rows: ReadonlyMap<string, TypeRow>;
  readonly #rowNames: ReadonlyMap<string, string>;
  readonly #primitives: ReadonlySet<string>;
  readonly #types = new Map<string, GraphQLNamedType>();
  readonly #resources: ReadonlySet<string>;
  readonly #schemas = new Map<string | undefined, LazySchema>();
  /** What many fields have in common is one object, so that introspection writes it once. */
  readonly #lists = new Map<GraphQLNamedType, GraphQLList<GraphQLNamedType>>();
  readonly #arguments = new Map<GraphQLInputType, Map<string, GraphQLArgument>>();
  readonly #listArguments = new Map<string, readonly GraphQLArgument[]>();
  #shortArguments: readonly GraphQLArgument[] | undefined;

  constructor(
    readonly tables: SchemaTables,
    private readonly options: Options,
  ) {
    this.#rows = rowsByName(tables.types);
    this.#rowNames = new Map(tables.types.map(({ name }) => [schemaName(name), name]));
    this.#primitives = new Set(tables.primitives.map(({ name }) => name));
    this.#resources = new Set(tables.resourceTypes);
  }

  /** The schema of calls on the system, or on an instance of a type. */
  schemaOf(type?: string): LazySchema {
    let schema = this.#schemas.get(type);
    if (schema === undefined) {
      const root = this.typeOf(type === undefined ? ROOT : type) as GraphQLObjectType;
      this.#schemas.set(type, (schema = new LazySchema(this, root, DIRECTIVES)));
    }
    return schema;
  }

  get names(): readonly string[] {
    const isExposed = ({ name, kind, abstract }: TypeRow): boolean =>
      abstract !== true || kind === 'resource' || name === ELEMENT;
    const rows = this.tables.types.filter(isExposed).map(({ name }) => schemaName(name));
    const connections = this.tables.resourceTypes.flatMap((type) => [`${type}Connection`, `${type}Edge`]);
    const scalars = this.tables.primitives.map(({ name }) => primitiveScalar(name).name);
    const searched = SEARCH_TYPES.map((type) => searchScalar(type).name);
    return [...new Set([ROOT, ...rows, ...connections, ...scalars, ...searched, GraphQLFloat.name])];
  }

  typeOf(name: string): GraphQLNamedType | undefined {
    let type = this.#types.get(name);
    if (type === undefined) {
      type = this.#make(name);
      // Only names of the tables are kept, never what a client makes up.
      if (type !== undefined) this.#types.set(name, type);
    }
    return type;
  }

  possibleTypes(name: string): readonly string[] {
    if (name === RESOURCE) return this.tables.resourceTypes;
    return this.tables.resourceTypes.filter((type) => this.#ancestors(type).includes(name));
  }

  /** Name of the row behind a type of the schema; undefined: it is none of FHIR's. */
  rowName(name: string): string | undefined {
    return this.#rowNames.get(name);
  }

  isResource(name: string): boolean {
    return this.#resources.has(name);
  }

  /** Whether a row stands for resources of several types, each of which says its own. */
  isAnyResource(name: string): boolean {
    const row = this.#rows.get(name);
    return row?.kind === 'resource' && row.abstract === true;
  }

  #make(name: string): GraphQLNamedType | undefined {
    const { isKept } = this.options;
    if (name === ROOT) return new LazyObject({ name, isKept, makers: () => this.#rootFields() });
    const row = this.#rows.get(this.#rowNames.get(name) ?? '');
    if (row !== undefined) return this.#rowType(name, row);
    const [, type = '', part = ''] = /^(\w+?)(Connection|Edge)$/.exec(name) ?? [];
    if (this.#resources.has(type)) {
      const makers = () => (part === 'Edge' ? this.#edgeFields(type) : this.#connectionFields(type));
      return new LazyObject({ name, isKept, makers });
    }
    const primitive = this.tables.primitives.find((each) => primitiveScalar(each.name).name === name);
    if (primitive !== undefined) return primitiveScalar(primitive.name);
    const searched = SEARCH_TYPES.find((each) => searchScalar(each).name === name);
    if (searched !== undefined) return searchScalar(searched);
    return name === GraphQLFloat.name ? GraphQLFloat : undefined;
  }

  #rowType(name: string, row: TypeRow): GraphQLNamedType {
    const makers = () => this.#rowFields(row);
    const interfaces = () =>
      this.#ancestors(row.name)
        .filter((each) => this.#rows.get(each)?.kind === 'resource')
        .map((each) => this.typeOf(schemaName(each)) as GraphQLInterfaceType);
    const config = { name, makers, isKept: this.options.isKept };
    if (row.kind !== 'resource') return new LazyObject(config);
    return row.abstract === true
      ? new LazyInterface({ ...config, interfaces })
      : new LazyObject({ ...config, interfaces });
  }

  /** The types that a type specialises. */
  #ancestors(name: string): readonly string[] {
    const found: string[] = [];
    for (let base = this.#rows.get(name)?.base; base !== undefined; base = this.#rows.get(base)?.base) found.push(base);
    return found;
  }

  #rootFields(): Map<string, FieldMaker> {
    const makers = new Map<string, FieldMaker>();
    for (const type of this.tables.resourceTypes) {
      makers.set(type, () => ({
        type: this.#output(type),
        args: [this.#argument('id', NEEDED_ID)],
        extensions: facts({ is: 'read', type }),
      }));
      this.#addSearches(makers, type, false);
    }
    return makers;
  }

  #addSearches(makers: Map<string, FieldMaker>, type: string, isReverse: boolean): void {
    makers.set(`${type}List`, () => ({
      type: this.#list(type),
      args: this.#searchArgs(type, isReverse, false),
      extensions: facts({ is: 'search', type, isConnection: false, isReverse }),
    }));
    makers.set(`${type}Connection`, () => ({
      type: this.#output(`${type}Connection`),
      args: this.#searchArgs(type, isReverse, true),
      extensions: facts({ is: 'search', type, isConnection: true, isReverse }),
    }));
  }

  #searchArgs(type: string, isReverse: boolean, isConnection: boolean): readonly GraphQLArgument[] {
    // All parameters of all types on all types would be many megabytes: introspection shows what is of most use. All are taken.
    if (isReverse && !this.options.isWhole) return (this.#shortArguments ??= this.#shortArgs());
    const { reference, fhirpath, offset, cursor, otherCursor } = SEARCH_ARGUMENTS;
    const args = new Map<string, GraphQLInputType>();
    if (isReverse) args.set(reference, NEEDED_CODE);
    const rows = searchDefinitions(this.tables).rowsOf(type);
    for (const [name, code] of searchArguments(rows)) {
      const row = rows.get(code);
      if (row !== undefined) args.set(name, this.#listOf(searchScalar(row.type)));
    }
    for (const name of RESULT_ARGUMENTS) args.set(name, name === '_count' ? GraphQLInt : this.#listOf(GraphQLString));
    args.set(offset, GraphQLInt);
    args.set(fhirpath, GraphQLString);
    if (isConnection && !isReverse) for (const each of [cursor, otherCursor]) args.set(each, GraphQLID);
    return this.#toArguments(args);
  }

  /** The arguments that reverse look-ups are shown with. */
  #shortArgs(): readonly GraphQLArgument[] {
    const args = new Map<string, GraphQLInputType>([
      [SEARCH_ARGUMENTS.reference, NEEDED_CODE],
      [FILTER, this.#listOf(searchScalar('special'))],
    ]);
    for (const name of RESULT_ARGUMENTS) {
      if (name !== '_score') args.set(name, name === '_count' ? GraphQLInt : this.#listOf(GraphQLString));
    }
    return this.#toArguments(args);
  }

  #toArguments(types: ReadonlyMap<string, GraphQLInputType>): readonly GraphQLArgument[] {
    return [...types].map(([name, type]) => this.#argument(name, type));
  }

  #argument(name: string, type: GraphQLInputType): GraphQLArgument {
    let byName = this.#arguments.get(type);
    if (byName === undefined) this.#arguments.set(type, (byName = new Map()));
    let argument = byName.get(name);
    if (argument === undefined) byName.set(name, (argument = buildArgument(name, type)));
    return argument;
  }

  #connectionFields(type: string): Map<string, FieldMaker> {
    const value =
      (output: GraphQLOutputType): FieldMaker =>
      () => ({
        type: output,
        extensions: facts({ is: 'value', isList: false, type: 'connection' }),
      });
    return new Map<string, FieldMaker>([
      ...(['count', 'offset', 'pagesize', 'pageSize'] as const).map((name) => [name, value(GraphQLInt)] as const),
      [
        'edges',
        () => ({
          type: this.#list(`${type}Edge`),
          extensions: facts({ is: 'complex', isList: true, type: `${type}Edge` }),
        }),
      ],
      ...(['first', 'previous', 'next', 'last'] as const).map((name) => [name, value(GraphQLID)] as const),
    ]);
  }

  #edgeFields(type: string): Map<string, FieldMaker> {
    const value =
      (output: GraphQLOutputType): FieldMaker =>
      () => ({
        type: output,
        extensions: facts({ is: 'value', isList: false, type: 'edge' }),
      });
    return new Map<string, FieldMaker>([
      ['mode', value(primitiveScalar('code'))],
      ['score', value(GraphQLFloat)],
      ['resource', () => ({ type: this.#output(type), extensions: facts({ is: 'complex', isList: false, type }) })],
    ]);
  }

  #rowFields(row: TypeRow): Map<string, FieldMaker> {
    const makers = new Map<string, FieldMaker>();
    if (row.kind === 'resource') {
      makers.set('resourceType', () => ({ type: NEEDED_CODE, extensions: facts({ is: 'resourceType' }) }));
    }
    for (const element of elementsOf(row.name, this.#rows)) this.#addElement(makers, element);
    if (row.name === REFERENCE) {
      makers.set('resource', () => ({
        type: this.#output(RESOURCE),
        args: [this.#argument('optional', GraphQLBoolean), this.#argument('type', primitiveScalar('code'))],
        extensions: facts({ is: 'target' }),
      }));
    }
    if (row.kind === 'resource') {
      for (const type of this.#referring(row.name)) this.#addSearches(makers, type, true);
    }
    return makers;
  }

  /** The types whose search parameters may lead to a type. */
  #referring(name: string): readonly string[] {
    if (this.options.isWhole) return this.tables.resourceTypes;
    // Abstract types have none of their own in what introspection shows.
    if (!this.#resources.has(name)) return [];
    return this.tables.resourceTypes.filter((type) =>
      [...searchDefinitions(this.tables).rowsOf(type).values()].some(
        (row) => row.type === 'reference' && row.targets?.includes(name) === true,
      ),
    );
  }

  #addElement(makers: Map<string, FieldMaker>, element: ElementRow): void {
    const { types, max, targets } = element;
    const isList = max === '*';
    const outputOf = (type: GraphQLNamedType): GraphQLOutputType =>
      (isList ? this.#listOf(type) : type) as GraphQLOutputType;
    for (const type of types) {
      const json = jsonName(element, type);
      if (this.#primitives.has(type)) {
        makers.set(json, () => ({
          type: outputOf(primitiveScalar(type)),
          extensions: facts({ is: 'value', isList, type }),
        }));
        makers.set(`_${json}`, () => ({
          type: outputOf(this.#named(schemaName(ELEMENT))),
          extensions: facts({ is: 'complex', isList, type: ELEMENT }),
        }));
      } else {
        makers.set(json, (): FieldConfig => {
          const own = targets?.[type] ?? (type === 'CodeableReference' ? targets?.[REFERENCE] : undefined);
          return {
            type: outputOf(this.#named(schemaName(type))),
            ...(isList && { args: this.#listArgs(type) }),
            extensions: facts({ is: 'complex', isList, type, ...(own !== undefined && { targets: own }) }),
          };
        });
      }
    }
  }

  #listArgs(type: string): readonly GraphQLArgument[] {
    let args = this.#listArguments.get(type);
    if (args === undefined) this.#listArguments.set(type, (args = this.#makeListArgs(type)));
    return args;
  }

  #makeListArgs(type: string): readonly GraphQLArgument[] {
    const { fhirpath, count, offset } = LIST_ARGUMENTS;
    const args = new Map<string, GraphQLInputType>();
    const row = this.#rows.get(type);
    for (const element of row === undefined || this.#resources.has(type) ? [] : elementsOf(row.name, this.#rows)) {
      // A choice of fifty types is not filtered by its primitive ones in what introspection shows.
      const isShown = this.options.isWhole || (element.choice !== true && element.name !== 'id');
      for (const each of isShown ? element.types : []) {
        if (!this.#primitives.has(each)) continue;
        args.set(jsonName(element, each), primitiveScalar(each));
      }
    }
    args.set(fhirpath, GraphQLString);
    args.set(count, GraphQLInt);
    args.set(offset, GraphQLInt);
    return this.#toArguments(args);
  }

  #named(name: string): GraphQLNamedType {
    return this.typeOf(name)!;
  }

  #output(name: string): GraphQLOutputType {
    return this.#named(name) as GraphQLOutputType;
  }

  #list(name: string): GraphQLOutputType {
    return this.#listOf(this.#named(name)) as GraphQLOutputType;
  }

  #listOf<T extends GraphQLNamedType>(type: T): GraphQLList<T> {
    let list = this.#lists.get(type);
    if (list === undefined) this.#lists.set(type, (list = new GraphQLList(type)));
    return list as GraphQLList<T>;
  }
}

const SEARCH_TYPES = [
  'number',
  'date',
  'string',
  'token',
  'reference',
  'composite',
  'quantity',
  'uri',
  'special',
] as const;

/** The types that queries are checked by; they stay as long as the tables do. */
export const queryTypes = memoizeWeak((tables: SchemaTables) => {
  return new TypeCatalog(tables, { isKept: true, isWhole: true });
});

/** The types that introspection describes; nothing of them stays. */
export function describedTypes(tables: SchemaTables): TypeCatalog {
  return new TypeCatalog(tables, { isKept: false, isWhole: false });
}

/** Code of the reference parameter that `_reference` names, by either spelling; undefined: there is none. */
export function referenceParameter(rows: ReadonlyMap<string, SearchRow>, name: string): SearchRow | undefined {
  const found = rows.get(name) ?? [...rows.values()].find(({ code }) => argumentName(code) === name);
  return found?.type === 'reference' ? found : undefined;
}

/** Name of a type in the schema: that of its row, the parts of a path in one word. https://hl7.org/fhir/R5/graphql.html */
export function schemaName(row: string): string {
  if (row === ELEMENT) return 'ElementBase';
  return row
    .split('.')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}

function facts(of: FieldFacts): Record<string, unknown> {
  return { facts: of };
}
