import type { AnyResource, Bundle, ResourceOf, ResourceType, SearchParameters } from '../../generated/types/index.js';
import type { Connection } from './http.js';

/** Why a resource is in a page. https://hl7.org/fhir/R5/valueset-search-entry-mode.html */
export type SearchMode = 'match' | 'include' | 'outcome';

/** A value of a parameter, or several of which all have to match. Alternatives are separated by commas within one value. */
export type ParameterValue = string | number | boolean | readonly (string | number | boolean)[];

/**
 * Criteria of a search: parameters of the type, those with a modifier or a chain (`'name:exact'`, `'subject.name'`), and what forms
 * the result (`_count`, `_sort`, `_include`). https://hl7.org/fhir/R5/search.html
 */
export type Criteria<T extends ResourceType> = SearchParameters[T] & {
  readonly [name: `${string}:${string}` | `${string}.${string}` | `_${string}`]: ParameterValue | undefined;
};

/** A search. Iterating over it gives the matches of all pages. */
export interface Search<T extends ResourceType> extends AsyncIterable<ResourceOf<T>> {
  /** The first page as it came. */
  bundle(): Promise<Bundle>;
  /** Page after page, each fetched when it is asked for. */
  pages(): AsyncIterable<Bundle>;
  /** Matches and what came with them by `_include` and `_revinclude`, of all pages. */
  entries(): AsyncIterable<{ readonly mode: SearchMode; readonly resource: AnyResource }>;
}

/** The query of criteria; undefined values are left out. */
export function queryOf(criteria: Readonly<Record<string, ParameterValue | undefined>>): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(criteria)) {
    if (value === undefined) continue;
    for (const each of Array.isArray(value) ? (value as readonly unknown[]) : [value]) query.append(name, String(each));
  }
  return query;
}

/** A search of a type. Nothing is sent before it is read. */
export function searchOf<T extends ResourceType>(
  connection: Connection,
  type: T,
  criteria: Criteria<T>,
  signal?: AbortSignal,
): Search<T> {
  const query = queryOf(criteria as Record<string, ParameterValue | undefined>);
  const bundle = async (): Promise<Bundle> =>
    (await connection.send<Bundle>({ method: 'GET', path: type, query, signal })).body as Bundle;
  async function* pages(): AsyncGenerator<Bundle> {
    for (let page = await bundle(); ;) {
      yield page;
      const next = page.link?.find(({ relation }) => relation === 'next')?.url;
      if (next === undefined) return;
      page = await connection.follow<Bundle>(next, signal);
    }
  }
  async function* entries() {
    for await (const { entry = [] } of pages()) {
      for (const { resource, search } of entry) {
        if (resource !== undefined) yield { mode: (search?.mode ?? 'match') as SearchMode, resource };
      }
    }
  }
  return {
    bundle,
    pages,
    entries,
    async *[Symbol.asyncIterator]() {
      for await (const { mode, resource } of entries()) if (mode === 'match') yield resource as ResourceOf<T>;
    },
  };
}
