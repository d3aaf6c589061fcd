/** Where a search looks, and for what. */
export interface SearchUrl {
  /** Names behind it: none, a type, or a type, an id and a type or `*`. */
  readonly segments: readonly string[];
  readonly query: string;
}

/** The last segments of a path that name what is searched: `Patient/1/Observation`, `Patient/1/*`, `Patient`. */
const PLACES = [
  /^(.*?)\/?([A-Z][A-Za-z]*)\/([A-Za-z0-9\-.]{1,64})\/([A-Z][A-Za-z]*|\*)$/,
  /^(.*?)\/?([A-Z][A-Za-z]*)$/,
];

/** Words for the error about a text that `splitSearch` does not take: they say what it has to be. */
export const SEARCH_URL_HELP =
  'has to begin with a type, a compartment or a query, as in Patient?name=x, Patient/1/Observation, ?_type=Patient';

/**
 * Splits a search as people write it: `Patient?name=x`, `/fhir/Patient/1/Observation?code=x`,
 * `http://host/fhir/_search?_type=Patient`, `?_type=Patient`. Undefined: it is no search, see `SEARCH_URL_HELP`.
 */
export function splitSearch(search: string): SearchUrl | undefined {
  const mark = search.indexOf('?');
  const query = mark < 0 ? '' : search.slice(mark + 1);
  const path = (mark < 0 ? search : search.slice(0, mark)).replace(/(?:^|\/)_search\/?$/, '').replace(/\/$/, '');
  for (const place of PLACES) {
    const [, base, ...segments] = place.exec(path) ?? [];
    if (base !== undefined) return { segments, query };
  }
  // The base itself ends as nothing that can be searched.
  const [, base = ''] = /^((?:[a-z][a-z0-9+.-]*:\/)?(?:\/[^/]+)*)$/i.exec(path) ?? [];
  if (base !== path || /\/[A-Z][A-Za-z]*(?:\/|$)/.test(path) || (path === '' && mark < 0)) return undefined;
  return { segments: [], query };
}
