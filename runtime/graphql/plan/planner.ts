import {
  Kind,
  getArgumentValues,
  getDirectiveValues,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  isInterfaceType,
  isObjectType,
  type FieldNode,
  type GraphQLNamedType,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

import { onlyType } from '../document/adapt.js';
import type { ValidQuery } from '../document/read-document.js';
import { pathOf } from '../document/rules.js';
import { LIST_ARGUMENTS, factsOf, type FieldFacts } from '../schema/facts.js';
import { schemaName } from '../schema/schema.js';

/** Which values of a list are wanted. https://hl7.org/fhir/R5/graphql.html#list */
export interface ListChoice {
  /** Elements and the text that one of their values has to have. */
  readonly equals: readonly (readonly [string, string])[];
  readonly fhirpath?: string;
  readonly offset: number;
  readonly count: number;
}

/** Facts about a planned field: its meaning in FHIR, or that it is `__typename` or introspection. */
export type PlannedFacts = FieldFacts | { readonly is: 'typename' } | { readonly is: 'introspection' };

/** A field of the answer. */
export interface PlannedField {
  /** Its name in the answer. */
  readonly key: string;
  readonly name: string;
  readonly nodes: readonly [FieldNode, ...FieldNode[]];
  readonly facts: PlannedFacts;
  readonly choice?: ListChoice;
  /** Whether no directive changes where its values go. */
  readonly isPlain: boolean;
  readonly isFlat: boolean;
  readonly isFirst: boolean;
  readonly isSingleton: boolean;
  /** Path of `@slice`. */
  readonly slice?: string;
  /** Of a reference's target: the types that are wanted; absent: any. */
  readonly only?: ReadonlySet<string>;
  /** Of a reference's target: whether one that is not there is no error. */
  readonly isOptional: boolean;
  /** Id of the resource that is read. */
  readonly id?: string;
  /** Whether the store may have to be asked for what is in the field. */
  readonly looksUp: boolean;
  /** The fields below it, on values of a type, by name of its row. */
  fieldsOn(type: string): readonly PlannedField[];
}

/** Plans of operations without variables: they are the same for all requests that send a document, as long as that is known. */
const known = new WeakMap<OperationDefinitionNode, Planner>();

/** Returns the planner of the fields of a query. */
export function plannerOf(query: ValidQuery): Planner {
  if (Object.keys(query.variables).length > 0) return new Planner(query);
  let planner = known.get(query.operation);
  if (planner === undefined) known.set(query.operation, (planner = new Planner(query)));
  return planner;
}

/** Plans fields, on each type when values of it come. */
export class Planner {
  readonly #looks = new Map<SelectionSetNode, boolean>();
  #root: readonly PlannedField[] | undefined;

  constructor(private readonly query: ValidQuery) {}

  /** The fields of the operation itself. */
  root(): readonly PlannedField[] {
    this.#root ??= this.#plan(this.query.schema.getQueryType(), [this.query.operation.selectionSet]);
    return this.#root;
  }

  #plan(type: GraphQLNamedType | undefined, sets: readonly SelectionSetNode[]): readonly PlannedField[] {
    if (!isObjectType(type) && !isInterfaceType(type)) return [];
    return [...this.collect(sets, type.name)].map(([key, nodes]) => this.#field(key, nodes, type));
  }

  /** The fields that selections ask of a type, by their keys in the answer. https://spec.graphql.org/October2021/#CollectFields() */
  collect(sets: readonly SelectionSetNode[], type: string): ReadonlyMap<string, PlannedField['nodes']> {
    const found = new Map<string, [FieldNode, ...FieldNode[]]>();
    for (const set of sets) this.#collect(set, type, found);
    return found;
  }

  #collect(set: SelectionSetNode, type: string, out: Map<string, [FieldNode, ...FieldNode[]]>): void {
    for (const each of set.selections) {
      if (!this.isIncluded(each)) continue;
      if (each.kind === Kind.FIELD) {
        const key = (each.alias ?? each.name).value;
        const nodes = out.get(key);
        if (nodes === undefined) out.set(key, [each]);
        else nodes.push(each);
        continue;
      }
      const fragment = each.kind === Kind.FRAGMENT_SPREAD ? this.query.fragments.get(each.name.value) : each;
      if (fragment === undefined) continue;
      if (this.#applies(fragment.typeCondition?.name.value, type)) this.#collect(fragment.selectionSet, type, out);
    }
  }

  /** Whether `@skip` and `@include` leave a selection in. */
  isIncluded(node: SelectionNode): boolean {
    if (node.directives === undefined || node.directives.length === 0) return true;
    const { variables } = this.query;
    if (getDirectiveValues(GraphQLSkipDirective, node, variables)?.['if'] === true) return false;
    return getDirectiveValues(GraphQLIncludeDirective, node, variables)?.['if'] !== false;
  }

  #applies(condition: string | undefined, type: string): boolean {
    if (condition === undefined || condition === type) return true;
    return this.query.catalog.possibleTypes(condition).includes(type);
  }

  #field(key: string, nodes: PlannedField['nodes'], parent: { name: string; getFields(): object }): PlannedField {
    const [node] = nodes;
    const name = node.name.value;
    const definition = (parent.getFields() as Record<string, Parameters<typeof factsOf>[0]>)[name];
    const facts: PlannedFacts =
      factsOf(definition) ?? (name === '__typename' ? { is: 'typename' } : { is: 'introspection' });
    const has = (directive: string): boolean => node.directives?.some((each) => each.name.value === directive) === true;
    const args =
      definition === null || definition === undefined ? {} : getArgumentValues(definition, node, this.query.variables);
    const types = nodes.map(onlyType);
    const only = types.every((each) => each !== undefined) ? new Set(types) : undefined;
    const slice = pathOf(node, this.query.variables);
    const sets = nodes.flatMap(({ selectionSet }) => (selectionSet === undefined ? [] : [selectionSet]));
    const byType = new Map<string, readonly PlannedField[]>();
    const choice = facts.is === 'complex' && facts.isList ? choiceOf(args) : undefined;
    return {
      ...{ key, name, nodes, facts },
      ...(choice !== undefined && { choice }),
      isPlain: !['flatten', 'first', 'singleton', 'slice'].some(has),
      isFlat: has('flatten'),
      isFirst: has('first'),
      isSingleton: has('singleton'),
      ...(slice !== undefined && { slice }),
      ...(only !== undefined && { only }),
      isOptional: args['optional'] === true,
      ...(facts.is === 'read' && { id: String(args['id']) }),
      looksUp:
        slice !== undefined ||
        choice?.fhirpath !== undefined ||
        facts.is === 'target' ||
        facts.is === 'search' ||
        facts.is === 'read' ||
        sets.some((set) => this.#hasLooks(set)),
      fieldsOn: (type) => {
        let fields = byType.get(type);
        if (fields === undefined) {
          byType.set(type, (fields = this.#plan(this.query.schema.getType(schemaName(type)), sets)));
        }
        return fields;
      },
    };
  }

  /** Whether anything in a selection may need the store: by the names of fields, whatever the type. */
  #hasLooks(set: SelectionSetNode): boolean {
    let has = this.#looks.get(set);
    if (has !== undefined) return has;
    has = set.selections.some((each) => {
      if (each.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = this.query.fragments.get(each.name.value);
        return fragment !== undefined && this.#hasLooks(fragment.selectionSet);
      }
      if (each.kind === Kind.FIELD && (/^resource$|List$|Connection$/.test(each.name.value) || hasFhirPath(each)))
        return true;
      return each.selectionSet !== undefined && this.#hasLooks(each.selectionSet);
    });
    this.#looks.set(set, has);
    return has;
  }
}

/** Whether a field has FHIRPath, which is evaluated before the answer is written, where others have their turn. */
function hasFhirPath({ arguments: args = [], directives = [] }: FieldNode): boolean {
  return (
    args.some(({ name }) => name.value === LIST_ARGUMENTS.fhirpath) ||
    directives.some(({ name }) => name.value === 'slice')
  );
}

const NAMES: ReadonlySet<string> = new Set(Object.values(LIST_ARGUMENTS));

function choiceOf(args: Readonly<Record<string, unknown>>): ListChoice | undefined {
  const given = Object.entries(args).filter(([, value]) => value !== null && value !== undefined);
  if (given.length === 0) return undefined;
  const fhirpath = args[LIST_ARGUMENTS.fhirpath];
  return {
    equals: given.flatMap(([name, value]) => (NAMES.has(name) ? [] : [[name, String(value)] as const])),
    ...(typeof fhirpath === 'string' && { fhirpath }),
    offset: Number(args[LIST_ARGUMENTS.offset] ?? 0),
    count: Number(args[LIST_ARGUMENTS.count] ?? Infinity),
  };
}
