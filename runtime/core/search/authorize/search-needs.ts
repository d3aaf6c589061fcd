import { isOwnChain, linksOf, type SearchLinks } from '../../../auth/access/search-links.js';
import type { Content } from '../../../auth/access/content.js';
import type { Access } from '../../../auth/scopes/access.js';
import { FhirError } from '../../../fhir/errors.js';
import type { Criterion } from '../../../search/query/query.js';
import type { Call } from '../../call.js';
import type { SearchServices } from '../parse/search-context.js';
import { GRAPH } from '../graph/read-graph.js';
import { readSearchRequest, type SearchRequest } from '../parse/search-request.js';
import { scopeOf, TYPES } from '../parse/scope.js';

/** What of a search decides on the scopes that it needs. */
export interface SearchNeeds {
  /** Criteria that count as the type's own whatever they reach into. */
  readonly own: readonly Criterion[];
  /** All others. */
  readonly judged: readonly Criterion[];
  readonly links: SearchLinks;
  /** For `decide`. */
  readonly content: Content;
}

/** A search whose scopes are asked for. */
export type AskedSearch = { readonly [name in 'type' | 'id' | 'member' | 'params']?: Call[name] | undefined };

/** @param type whose parameters count; absent: those that all types have do */
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
 * The same as far as the URL of a search tells; undefined: it is none that can be read.
 *
 * Nothing is looked up for it, so that a refusal can name all that is missing.
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
