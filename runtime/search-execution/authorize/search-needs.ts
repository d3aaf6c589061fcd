import { isOwnChain, linksOf, type SearchLinks } from '../../auth/access/search-links.js';
import type { Content } from '../../auth/access/content.js';
import type { Access } from '../../auth/scopes/access.js';
import { FhirError } from '../../fhir/errors.js';
import type { Criterion } from '../../search/query/query.js';
import type { Call } from '../../core/call.js';
import type { SearchServices } from '../parse/search-context.js';
import { GRAPH } from '../graph/read-graph.js';
import { readSearchRequest, type SearchRequest } from '../parse/search-request.js';
import { scopeOf, TYPES } from '../parse/scope.js';

/** The parts of a search that decide which scopes it needs. */
export interface SearchNeeds {
  /** Criteria that the scope of the searched type covers, whatever resources they reach into. */
  readonly own: readonly Criterion[];
  /** All other criteria. */
  readonly judged: readonly Criterion[];
  readonly links: SearchLinks;
  /** For `decide`. */
  readonly content: Content;
}

/** A search whose scopes are to be found. */
export type AskedSearch = { readonly [name in 'type' | 'id' | 'member' | 'params']?: Call[name] | undefined };

/** The scopes that a search needs. @param type whose parameters are valid; undefined: several types are searched */
export function needsOfSearch(
  { criteria, names, types, understood, graph }: SearchRequest,
  { type, member }: { readonly type: string | undefined; readonly member: string | undefined },
  access: Access,
  { scopes: { ownChains } }: SearchServices['tables'],
): SearchNeeds {
  const isOwn = (_: Criterion, i: number): boolean => type !== undefined && isOwnChain(ownChains, type, names[i] ?? '');
  const own = criteria.filter(isOwn);
  const judged = criteria.filter((each, i) => !isOwn(each, i));
  const found = linksOf(judged, access);
  const links = graph === undefined ? found : { ...found, list: [...(found.list || []), GRAPH].sort() };
  const isNamed = (member !== undefined && member !== '*') || understood.some(({ name }) => name === TYPES);
  const named = { 'types-named': isNamed && types, 'types-unnamed': !isNamed && types } as const;
  const content: Content = { ...links, ...named };
  return { own, judged, links, content };
}

/**
 * The scopes that a search needs as far as its URL shows; undefined: the URL is not a valid search.
 *
 * Nothing is looked up, so that a refusal can name all missing scopes.
 */
export function needsOfUrl(
  { type, id = '', member, params }: AskedSearch,
  access: Access,
  services: SearchServices,
): Content | undefined {
  if (params === undefined) return undefined;
  const place = { ...(type !== undefined && { type, id }), ...(member !== undefined && { member }) };
  const sent = [...params].map(([name, value]) => ({ name, value, isInUrl: true }));
  try {
    const scope = scopeOf(place, services.tables);
    const searched = scope.type === undefined ? { types: scope.types } : { type: scope.type };
    const input = { ...searched, params: sent, isLenient: true, isPosted: false, now: 0, base: '' };
    return needsOfSearch(readSearchRequest(input, services), { type: scope.type, member }, access, services.tables)
      .content;
  } catch (error) {
    if (error instanceof FhirError) return undefined;
    throw error;
  }
}
