import { GraphQLError, Kind, getArgumentValues, type ASTNode, type FieldNode } from 'graphql';

import { greatest } from '../../fhir/lists.js';
import type { Content } from '../../auth/access/content.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import { searchAccess } from '../../auth/access/search-access.js';
import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import { neededFor } from '../../search-execution/authorize/authorize.js';
import type { Call } from '../../core/call.js';
import { needsOfSearch } from '../../search-execution/authorize/search-needs.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import type { ValidQuery } from '../document/read-document.js';
import { pathOf } from '../document/rules.js';
import { RequestError, documentError } from '../errors.js';
import { QUERY_LIMITS } from '../limits.js';
import { LIST_ARGUMENTS } from '../schema/facts.js';
import { askingFields } from './asking-fields.js';
import { Filters } from './filters.js';
import { numberOf, planSearch, type PlannedSearch } from './plan-search.js';
import { plannerOf, type Planner, type PlannedField } from './planner.js';

/** A query whose searches are read and allowed. */
export interface PreparedQuery {
  readonly fields: readonly PlannedField[];
  /** The searches, by their fields. */
  readonly searches: ReadonlyMap<FieldNode, PlannedSearch>;
  readonly filters: Filters;
  readonly planner: Planner;
}

/**
 * Reads all searches and expressions of a query, and compares what it asks for with the scopes of the token, before anything is
 * looked up.
 *
 * @throws RequestError for arguments that are not valid, or more than the limits allow
 * @throws FhirError `scope-missing` naming all scopes that the query needs
 */
export function prepareQuery(query: ValidQuery, call: Call, services: Services): PreparedQuery {
  const searches = new Map<FieldNode, PlannedSearch>();
  const planner = plannerOf(query);
  const filters = new Filters(services.tables);
  const errors: GraphQLError[] = [];
  const reads = new Set<string>();
  const attempt = (node: ASTNode, work: () => void): void => {
    try {
      work();
    } catch (error) {
      if (error instanceof GraphQLError) errors.push(error);
      else if (error instanceof FhirError) errors.push(placed(error, node));
      else throw error;
    }
  };
  for (const { node, definition, facts, parent, guards } of askingFields(query)) {
    if (!guards.every((each) => planner.isIncluded(each))) continue;
    attempt(node, () => {
      const args = getArgumentValues(definition, node, query.variables);
      if (facts.is === 'complex')
        for (const name of [LIST_ARGUMENTS.count, LIST_ARGUMENTS.offset]) numberOf(args, name);
      if (facts.is === 'read') reads.add(facts.type);
      const type = facts.is === 'complex' || facts.is === 'search' ? facts.type : undefined;
      if (facts.is === 'search') {
        const around = query.catalog.isResource(parent) ? parent : undefined;
        searches.set(node, planSearch(facts, args, around, services));
      }
      const expressions = [args[LIST_ARGUMENTS.fhirpath], pathOf(node, query.variables)];
      for (const each of expressions) if (type !== undefined && typeof each === 'string') filters.check(each, type);
    });
  }
  const [first, ...others] = errors;
  if (first !== undefined) throw new RequestError([first, ...others]);
  checkScopes([...reads], [...searches.values()], call, services);
  const fields = planner.root();
  const cost = estimateCost(fields, 1, searches, query);
  if (cost > QUERY_LIMITS.cost) {
    const text = `The query may need ${cost} resources, and ${QUERY_LIMITS.cost} are allowed; ask for fewer with _count, or in several queries`;
    throw new RequestError([documentError(text, query.operation, 'graphql-limit')]);
  }
  return { fields, searches, filters, planner };
}

/** An error of FHIR at a place in the document. */
function placed(error: FhirError, nodes: ASTNode): GraphQLError {
  return new GraphQLError(error.message, { nodes, originalError: error, extensions: { code: error.code } });
}

/** @throws FhirError `scope-missing` */
function checkScopes(
  reads: readonly string[],
  searches: readonly PlannedSearch[],
  call: Call,
  services: Services,
): void {
  const given = call.principal.access;
  if (given === OPEN_ACCESS) return;
  const access = searchAccess(given, services.tables.resourceTypes);
  const contents = searches.map(({ type, request }) =>
    needsOfSearch(request, { type, member: undefined }, access, services.tables),
  );
  const union = (name: 'chain' | 'list' | 'in'): readonly string[] | false => {
    const all = [...new Set(contents.flatMap(({ content }) => content[name] || []))].sort();
    return all.length > 0 && all;
  };
  const groups = contents.flatMap(({ content }) => content['untyped-chain'] || []);
  const types = [...new Set(searches.map(({ type }) => type))].sort();
  const content: Content = {
    'graphql-instance': reads.length > 0 && [...reads].sort(),
    'graphql-list': types.length > 0 && types,
    'graphql-reference': false,
    chain: union('chain'),
    list: union('list'),
    in: union('in'),
    'untyped-chain': groups.length > 0 && groups,
  };
  const needed = neededFor(call, content, given, services.scopeRows);
  if (needed !== undefined) throw scopeMissing(needed, given);
}

/** Matches that a search is expected to have, on the system and for one resource. */
const EXPECTED = { root: 100, reverse: 20 };

/** The number of resources that fields are expected to need, for so many values around them. */
function estimateCost(
  fields: readonly PlannedField[],
  around: number,
  searches: PreparedQuery['searches'],
  query: ValidQuery,
): number {
  let cost = 0;
  for (const field of fields) {
    if (!field.looksUp) continue;
    const { facts } = field;
    const search = searches.get(field.nodes[0]);
    let values = around;
    if (facts.is === 'search' && search !== undefined) {
      values *= search.count ?? (search.by === undefined ? EXPECTED.root : EXPECTED.reverse);
      cost += values;
    } else if (facts.is === 'target' || facts.is === 'read') cost += values;
    const types = typesBelow(field, query);
    cost += greatest(
      types.map((type) => estimateCost(field.fieldsOn(type), values, searches, query)),
      0,
    );
    if (cost > QUERY_LIMITS.cost) return cost;
  }
  return cost;
}

/** The types that values of a field may be of, as far as its selections tell them apart. */
function typesBelow({ facts, nodes }: PlannedField, { fragments, catalog }: ValidQuery): readonly string[] {
  if (facts.is === 'search' && facts.isConnection) return [`${facts.type}Connection`];
  if (facts.is === 'search' || facts.is === 'read') return [facts.type];
  const named = new Set<string>();
  for (const node of nodes) {
    for (const each of node.selectionSet?.selections ?? []) {
      const fragment = each.kind === Kind.FRAGMENT_SPREAD ? fragments.get(each.name.value) : each;
      const name = fragment?.kind === Kind.FIELD ? undefined : fragment?.typeCondition?.name.value;
      if (name !== undefined && catalog.isResource(name)) named.add(name);
    }
  }
  if (facts.is === 'complex' && !catalog.isAnyResource(facts.type)) return [facts.type];
  // Fields that all types have are the same on any of them.
  return named.size > 0 ? [...named] : catalog.tables.resourceTypes.slice(0, 1);
}
