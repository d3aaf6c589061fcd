import { createHash } from 'node:crypto';

import { narrowIncludes } from '../../auth/access/narrow-includes.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import { searchAccess } from '../../auth/access/search-access.js';
import type { SearchLinks } from '../../auth/access/search-links.js';
import type { Access } from '../../auth/scopes/access.js';
import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import { withinReach, type Reach } from '../../auth/scopes/reach.js';
import type { Condition, Criterion } from '../../search/query/query.js';
import type { FindQuery, IncludePlan, Store } from '../../store/store.js';
import { neededFor } from './authorize.js';
import { recordConstraints, type RecordedAccess } from '../../core/access/constraint-index-status.js';
import type { Call } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { visibleContainers, type Container } from '../contained/contained-search.js';
import type { SearchScope } from '../parse/scope.js';
import type { SearchRequest } from '../parse/search-request.js';
import { needsOfSearch } from './search-needs.js';

/** Bounds that a token sets to a search. */
export interface SearchBounds {
  /** The types that are searched: those that the request names, or of all types those that the token shows. */
  readonly types: readonly string[];
  /** The includes that the token shows. */
  readonly include: IncludePlan | undefined;
  /** Equal for tokens that give the same in this search; empty: the token limits nothing. For page links. */
  readonly effect: string;
  /** Absent: the token gives access to everything. */
  readonly constraints?: SearchConstraints;
}

/** The constraints of a token's scopes that become part of a query. */
export interface SearchConstraints {
  readonly access: RecordedAccess;
  /** Criteria that the type's own scope covers, whatever resources they reach into. */
  readonly own: readonly Criterion[];
  /** All other criteria: they find what the token shows. */
  readonly judged: readonly Criterion[];
  /** Whether the token shows the resource that the compartment is named after; true without a compartment. */
  readonly mayEnter: boolean;
  /** Containers that the token shows, in a search of contained resources. */
  readonly containers: readonly Container[];
}

/**
 * Compares a search with the scopes of the token. A search that names what the token does not give is refused; includes and
 * unnamed types that it does not give are left out. https://build.fhir.org/ig/HL7/smart-app-launch/scopes-and-launch-context.html
 *
 * @throws FhirError `scope-missing` naming all that the search needs
 */
export async function constrainSearch(
  call: Call,
  scope: SearchScope,
  request: SearchRequest,
  services: Services,
): Promise<SearchBounds> {
  const given = call.principal.access;
  if (given === OPEN_ACCESS) return { types: request.types, include: request.include, effect: '' };
  const { tables, scopeRows, store } = services;
  const access = recordConstraints(searchAccess(given, tables.resourceTypes));
  const place = { type: scope.type, member: call.member };
  const { own, judged, links, content } = needsOfSearch(request, place, access, tables);
  const needed = neededFor(call, content, given, scopeRows);
  if (needed !== undefined) throw scopeMissing(needed, given);

  const types = request.types.filter((type) => access.on(type, 's') !== 'nothing');
  const directives = narrowIncludes(request.include?.directives ?? [], access, tables.resourceTypes);
  const include = request.include === undefined ? undefined : { ...request.include, directives };
  const containers = request.contained === undefined ? [] : visibleContainers(access, tables);
  const mayEnter = await showsCompartment(scope, access, store, call.signal);
  const searched = [...types, ...containers.map(({ type }) => type)];
  const effect = effectOf({ types: searched, links, include, scope }, request, access);
  return { types, include, effect, constraints: { access, own, judged, mayEnter, containers } };
}

/** A store's `find` that returns only what may be searched, or read. For hierarchies and membership. */
export function withinConstraints(access: Access, find: Store['find'], letter: 's' | 'r' = 's'): Store['find'] {
  return (query, signal) => find({ ...query, where: withinReach(query.where, access.on(query.type, letter)) }, signal);
}

/**
 * Whether the token shows the resource that a compartment is named after. A compartment is empty for a constrained token that
 * does not show it, so that the answer does not reveal whether the resource exists.
 */
async function showsCompartment(
  { compartment }: SearchScope,
  access: Access,
  store: Pick<Store, 'find'>,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (compartment === undefined) return true;
  const { type } = compartment.row;
  const reach = access.onAny(type, ['r', 's']);
  if (reach === 'everything') return true;
  const where = withinReach({ ids: [compartment.id] }, reach);
  const query: FindQuery = { type, where, sort: [], count: 1, total: 'none' };
  return (await store.find(query, signal)).versions.length > 0;
}

/** All that a token decides of a search before anything is looked up, as a short text. */
function effectOf(
  {
    types,
    links,
    include,
    scope,
  }: Pick<SearchBounds, 'types' | 'include'> & { links: SearchLinks; scope: SearchScope },
  request: SearchRequest,
  access: Access,
): string {
  const linked = [...(links.chain || []), ...(links['untyped-chain'] || []).flat()];
  const asked = [...(links.list || []), ...(links.in || [])];
  const reaches = [
    ...[...types, ...linked].map((type) => [type, access.on(type, 's')] as const),
    ...asked.map((type) => [type, access.on(type, 'r')] as const),
  ];
  const entered = scope.compartment && access.onAny(scope.compartment.row.type, ['r', 's']);
  const isWhole =
    types.length === request.types.length &&
    reaches.every(([, reach]) => reach === 'everything') &&
    (entered === undefined || entered === 'everything') &&
    include?.directives.length === request.include?.directives.length &&
    include?.directives.every((directive, i) => directive === request.include?.directives[i]) !== false;
  if (isWhole) return '';
  const nameOf = (reach: Reach | undefined): string | undefined =>
    typeof reach === 'object' ? digestOf(reach) : reach;
  const directives = include?.directives.map(({ within = {}, ...directive }) => {
    return [directive, Object.entries(within).map(([type, condition]) => [type, nameOf(condition)])];
  });
  const named = reaches.map(([type, reach]) => [type, nameOf(reach)]);
  return shortHash(JSON.stringify([named, nameOf(entered), { ...include, directives }]));
}

/** Conditions of a token, which may name all types, by what they are named here. */
const digests = new WeakMap<Condition, string>();

function digestOf(condition: Condition): string {
  const digest = digests.get(condition) ?? shortHash(JSON.stringify(condition));
  digests.set(condition, digest);
  return digest;
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
