import { createHash } from 'node:crypto';

import { narrowIncludes } from '../../../auth/access/narrow-includes.js';
import { narrowMultiType } from '../../../auth/access/narrow-search.js';
import { scopeMissing } from '../../../auth/access/refuse.js';
import { searchAccess } from '../../../auth/access/search-access.js';
import type { SearchLinks } from '../../../auth/access/search-links.js';
import type { Access } from '../../../auth/scopes/access.js';
import { OPEN_ACCESS } from '../../../auth/scopes/principal.js';
import { withinReach } from '../../../auth/scopes/reach.js';
import { NOTHING, type Condition, type Target } from '../../../search/query/query.js';
import type { FindQuery, IncludePlan, Store } from '../../../store/store.js';
import { neededFor } from '../../access/authorize.js';
import type { Call } from '../../call.js';
import { checkConstraintIndexes, recordConstraints } from '../../access/constraint-index-status.js';
import { constrainContained, visibleContainers, intoContainers } from '../contained/contained-search.js';
import { resolveCriteria, type HierarchySource } from '../execute/resolve-criteria.js';
import { needsOfSearch } from './search-needs.js';
import { narrow } from '../parse/search-parts.js';
import type { SearchRequest } from '../parse/search-request.js';
import type { SearchScope } from '../parse/scope.js';
import type { Services } from '../../services.js';

/** A search within what a token gives. */
export interface SearchConstraints {
  /** The types that are searched: of those that nobody named, those that may be. */
  readonly types: readonly string[];
  /** What comes with the page, as far as it may be seen. */
  readonly include: IncludePlan | undefined;
  /** Alike for requests to which tokens give the same; empty: for all. For page links. */
  readonly effect: string;
  /** What is asked of each type, hierarchies followed. @throws FhirError as `resolveCriteria`, and `index-not-current` */
  targets(parts: readonly Target[], source: HierarchySource): Promise<readonly Target[]>;
}

/**
 * Judges a search, and finds its bounds; undefined: it has none. What it names and may not have is refused, what only comes
 * along is left out. https://build.fhir.org/ig/HL7/smart-app-launch/scopes-and-launch-context.html
 *
 * @throws FhirError `scope-missing` naming all that it needs
 */
export async function constrainSearch(
  call: Call,
  scope: SearchScope,
  request: SearchRequest,
  services: Services,
): Promise<SearchConstraints | undefined> {
  const given = call.principal.access;
  if (given === OPEN_ACCESS) return undefined;
  const { tables, scopeRows, store } = services;
  const access = recordConstraints(searchAccess(given, tables.resourceTypes));
  const place = { type: scope.type, member: call.member };
  const { own, judged, links, content } = needsOfSearch(request, place, access, tables);
  const needed = neededFor(call, content, given, scopeRows);
  if (needed !== undefined) throw scopeMissing(needed);

  const types = request.types.filter((type) => access.on(type, 's') !== 'nothing');
  const directives = narrowIncludes(request.include?.directives ?? [], access, tables.resourceTypes);
  const include = request.include === undefined ? undefined : { ...request.include, directives };
  const containers = request.contained === undefined ? [] : visibleContainers(access, tables);
  const isOpen = await mayEnter(scope, access, store, call.signal);
  return {
    types,
    include,
    effect: effectOf(
      { types: [...types, ...containers.map(({ type }) => type)], links, include, scope },
      request,
      access,
    ),
    async targets(parts, source) {
      const seen = {
        ...source,
        find: withinConstraints(access, source.find),
        findReadable: withinConstraints(access, source.find, 'r'),
      };
      const found = narrowMultiType(narrow(parts, await resolveCriteria(judged, seen)), access);
      if (found.is === 'refused') throw scopeMissing(found.needed);
      await checkConstraintIndexes(access.constraints, services, request.contained && scope.type);
      const more = isOpen ? await resolveCriteria(own, source) : NOTHING;
      const { contained } = request;
      if (contained === undefined) return narrow(found.parts, more);
      // What a client asks of contained resources is another thing than what a constraint says of them.
      const asked = narrow(
        found.parts.map(({ type, asked }) => ({ type, where: asked })),
        more,
      );
      return asked.flatMap((part) =>
        intoContainers(contained, part, containers, constrainContained(access.on(part.type, 's'), part.type, tables)),
      );
    },
  };
}

/** Finds of what may be searched, or read. For hierarchies and membership. */
export function withinConstraints(access: Access, find: Store['find'], letter: 's' | 'r' = 's'): Store['find'] {
  return (query, signal) => find({ ...query, where: withinReach(query.where, access.on(query.type, letter)) }, signal);
}

/**
 * Whether the resource that a compartment is named after may be seen. Where a constraint decides, a compartment is empty unless
 * that resource is there and within it, so that nobody learns whether it is.
 */
async function mayEnter(
  { compartment }: SearchScope,
  access: Access,
  store: Pick<Store, 'find'>,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (compartment === undefined) return true;
  const { type } = compartment.row;
  const reach = access.onAny(type, ['r', 's']);
  if (reach === 'everything') return true;
  const where: Condition = withinReach({ ids: [compartment.id] }, reach);
  const query: FindQuery = { type, where, sort: [], count: 1, total: 'none' };
  return (await store.find(query, signal)).versions.length > 0;
}

/** All that a token decides of a search, before anything is looked up, as a short text. */
function effectOf(
  {
    types,
    links,
    include,
    scope,
  }: Pick<SearchConstraints, 'types' | 'include'> & { links: SearchLinks; scope: SearchScope },
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
    JSON.stringify(include) === JSON.stringify(request.include);
  if (isWhole) return '';
  return createHash('sha256')
    .update(JSON.stringify([reaches, entered, include]))
    .digest('base64url')
    .slice(0, 16);
}
