import type { AnyResource, Bundle, ResourceType, SearchParameters, SearchValues } from '../../generated/types/index.js';
import type { Connection, RequestOptions } from './http.js';

/** Why a resource is in a page. https://hl7.org/fhir/R5/valueset-search-entry-mode.html */
export type SearchMode = 'match' | 'include' | 'outcome';

/** A value of a parameter, or several of which all have to match. Alternatives are separated by commas within one value. */
export type ParameterValue = string | number | boolean | readonly (string | number | boolean)[];

/** Modifiers of each kind of parameter. https://hl7.org/fhir/R5/search.html#modifiers */
interface Modifiers {
  string: 'contains' | 'exact' | 'text';
  token: 'above' | 'below' | 'code-text' | 'in' | 'not' | 'not-in' | 'of-type' | 'text' | 'text-advanced';
  reference:
    | 'above'
    | 'below'
    | 'code-text'
    | 'contains'
    | 'identifier'
    | 'in'
    | 'not-in'
    | 'text'
    | 'text-advanced'
    | ResourceType;
  uri: 'above' | 'below' | 'contains';
}

type ModifierOf<V> =
  | 'missing'
  | (Extract<V, { '~kind': string }> extends { '~kind': infer K extends keyof Modifiers } ? Modifiers[K] : never);

/** The parameters of a type with a modifier that parameters of their kind have. */
type Modified<P> = {
  readonly [N in keyof P & string as `${N}:${ModifierOf<Exclude<P[N], undefined>>}`]?: ParameterValue;
};

/**
 * Criteria of a search: parameters of the type, those with a modifier of their kind or a chain (`'name:exact'`, `'subject.name'`), and
 * what forms the result (`_count`, `_sort`, `_include`). https://hl7.org/fhir/R5/search.html
 */
export type Criteria<T extends ResourceType> = SearchParameters[T] &
  Modified<SearchParameters[T]> & {
    readonly [name: `${string}.${string}` | `_${string}`]: SearchValues | undefined;
  };

/** Criteria of several types at once. */
export type SystemCriteria = Readonly<Record<string, ParameterValue | undefined>>;

/** Options of a search alone. */
export interface SearchOptions extends RequestOptions {
  /** By POST, so that no log has the criteria; a search whose URL is longer than 6 kB is anyway. */
  readonly post?: boolean;
}

/** A search. Iterating over it gives the matches of all pages. */
export interface Search<R extends AnyResource> extends AsyncIterable<R> {
  /** The first page as it came. */
  bundle(): Promise<Bundle>;
  /** Page after page, each fetched when it is asked for. */
  pages(): AsyncIterable<Bundle>;
  /** Matches and what came with them by `_include` and `_revinclude`, of all pages. */
  entries(): AsyncIterable<{ readonly mode: SearchMode; readonly resource: AnyResource }>;
}

/** Characters of a URL beyond which a search is sent by POST: proxies refuse longer ones. */
const LONGEST_URL = 6000;

/** The query of criteria; undefined values are left out. */
export function queryOf(criteria: object): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(criteria)) {
    if (value === undefined) continue;
    for (const each of Array.isArray(value) ? (value as readonly unknown[]) : [value]) query.append(name, String(each));
  }
  return query;
}

/** A search at a path: of a type, in a compartment, or of all types. Nothing is sent before it is read. */
export function searchOf<R extends AnyResource>(
  connection: Connection,
  path: string,
  criteria: object,
  { post = false, ...options }: SearchOptions,
): Search<R> {
  const query = queryOf(criteria);
  const bundle = async (): Promise<Bundle> => {
    const byUrl = { ...options, path, query };
    const isPosted = post || connection.urlOf(byUrl).length > LONGEST_URL;
    const byForm = { path: path === '' ? '_search' : `${path}/_search`, body: query, method: 'POST', isSafe: true };
    return (await connection.send<Bundle>(isPosted ? { ...options, ...byForm } : byUrl)).body as Bundle;
  };
  async function* pages(): AsyncGenerator<Bundle> {
    for (let page = await bundle(); ;) {
      yield page;
      const next = page.link?.find(({ relation }) => relation === 'next')?.url;
      if (next === undefined) return;
      page = (await connection.send<Bundle>({ ...options, path: next })).body as Bundle;
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
      for await (const { mode, resource } of entries()) if (mode === 'match') yield resource as R;
    },
  };
}
