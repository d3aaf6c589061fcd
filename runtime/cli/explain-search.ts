import { OPEN_ACCESS } from '../auth/scopes/principal.js';
import { ConfigError } from '../config/config-error.js';
import { readConfig, type Flags } from '../config/read-config.js';
import { checkContainedScope } from '../core/search/contained/contained-search.js';
import { DEFAULT_SERVICES } from '../core/default-services.js';
import { lookInto, narrow } from '../core/search/execute/find-page.js';
import { resolveCriteria } from '../core/search/execute/resolve-criteria.js';
import { readSearchRequest } from '../core/search/parse/search-request.js';
import { scopeOf, readMembership } from '../core/search/parse/scope.js';
import type { Core } from '../server.js';
import { isContainedType } from '../store/contained-resources.js';
import { printCondition, printSort } from '../search/query/print.js';
import { utc } from '../search/values/zone.js';
import type { Explanation, FindQuery, IncludeDirective } from '../store/store.js';
import { EXIT, messageOf, printable, type Terminal } from './terminal.js';
import { baseKey } from '../path/own-base.js';

/**
 * `kiln explain-search URL`: what a search is understood as, what the store makes of it, and what it looks at for the
 * first page. The search is done for that; of several types each by itself, those without resources left out.
 *
 * @returns the exit code
 * @throws ConfigError for what is no search
 */
export async function runExplainSearch(search: string, flags: Flags, terminal: Terminal): Promise<number> {
  const { config } = readConfig(flags, terminal.env);
  const url = splitSearch(search);
  let close = (): Promise<void> => Promise.resolve();
  try {
    const { openCore, searchServices } = await import('../server.js');
    const core = await openCore(config, { existing: true });
    close = () => core.store.close();
    const { queries, notes, graph } = await readQueries(url, core, searchServices(core));
    for (const { text } of notes) terminal.err(printable(text));
    for (const query of queries) {
      // What comes with the page is said above all; it is not followed.
      const { include, ...rest } = query;
      const explanation = await core.store.explain(rest);
      for (const line of describe(query, include?.directives ?? [], graph, explanation)) terminal.out(line);
    }
    if (queries.length === 0) terminal.out('none of the types that are searched has any resources');
    return EXIT.done;
  } catch (error) {
    terminal.err(`kiln: ${messageOf(error)}`);
    return EXIT.failed;
  } finally {
    await close();
  }
}

/** Where a search looks, and for what. */
interface SearchUrl {
  /** URL of the base; empty: absolute references are those of other servers. */
  readonly base: string;
  /** Names behind it: none, a type, or a type, an id and a type or `*`. */
  readonly segments: readonly string[];
  readonly query: string;
}

/** The last segments of a path that name what is searched: `Patient/1/Observation`, `Patient/1/*`, `Patient`. */
const PLACES = [
  /^(.*?)\/?([A-Z][A-Za-z]*)\/([A-Za-z0-9\-.]{1,64})\/([A-Z][A-Za-z]*|\*)$/,
  /^(.*?)\/?([A-Z][A-Za-z]*)$/,
];

/** `Patient?name=x`, `/fhir/Patient/1/Observation?code=x`, `http://host/fhir/_search?_type=Patient`, `?_type=Patient`. */
function splitSearch(search: string): SearchUrl {
  const mark = search.indexOf('?');
  const query = mark < 0 ? '' : search.slice(mark + 1);
  const path = (mark < 0 ? search : search.slice(0, mark)).replace(/(?:^|\/)_search\/?$/, '').replace(/\/$/, '');
  for (const place of PLACES) {
    const [, base, ...segments] = place.exec(path) ?? [];
    if (base !== undefined) return { base, segments, query };
  }
  // The base itself ends as nothing that can be searched.
  const [, base = ''] = /^((?:[a-z][a-z0-9+.-]*:\/)?(?:\/[^/]+)*)$/i.exec(path) ?? [];
  if (base !== path || /\/[A-Z][A-Za-z]*(?:\/|$)/.test(path) || (path === '' && mark < 0)) {
    const text =
      'has to begin with a type, a compartment or a query, as in Patient?name=x, Patient/1/Observation, ?_type=Patient';
    throw new ConfigError(`${JSON.stringify(search)}: ${text}`);
  }
  return { base, segments: [], query };
}

async function readQueries(
  { base, segments, query }: SearchUrl,
  { store, extract, tables }: Core,
  services: Parameters<typeof readSearchRequest>[1],
) {
  const [type, id, member] = segments;
  for (const name of [type, member]) {
    if (name !== undefined && name !== '*' && !tables.resourceTypes.includes(name)) {
      throw new Error(`there is no resource type ${JSON.stringify(name)}`);
    }
  }
  const place = {
    ...(type !== undefined && { type }),
    ...(id !== undefined && { id }),
    ...(member !== undefined && { member }),
  };
  const scope = scopeOf(place, tables);
  const params = [...new URLSearchParams(query)].map(([name, value]) => ({ name, value, isInUrl: true }));
  const source = { now: Date.now(), base };
  const searched = scope.type === undefined ? { types: scope.types } : { type: scope.type };
  const request = readSearchRequest({ ...source, ...searched, params, isLenient: false, isPosted: false }, services);
  const find = store.find.bind(store);
  const { findCodes } = await import('../operations/terminology/search-codes.js');
  const reading = { store, tables, indexStatus: DEFAULT_SERVICES.indexStatus, largeTexts: undefined };
  const where = await resolveCriteria(request.criteria, {
    codesOf: (set) => findCodes(set, { access: OPEN_ACCESS, signal: undefined }, reading),
    find,
    findReadable: find,
    extract,
    tables,
    base,
    zone: services.zone ?? utc,
  });
  const isAcross = scope.type === undefined || request.contained !== undefined;
  const counts = isAcross ? await store.counts() : undefined;
  const isThere = (type: string): boolean =>
    isContainedType(type) || type === scope.type || counts?.has(type) !== false;
  const types = request.types.filter(isThere);
  const { sort, count, total, include, notes, graph } = request;
  const page = {
    sort,
    count,
    total,
    ...(include !== undefined && { include }),
    ...(base !== '' && { base: baseKey(base) }),
  };
  checkContainedScope(request, scope);
  const { parts } = readMembership(scope, types, source, services);
  const targets = lookInto(request.contained, narrow(parts, where), tables);
  return {
    queries: targets.filter(({ type }) => isThere(type)).map((part): FindQuery => ({ ...part, ...page })),
    notes,
    graph,
  };
}

function describe(
  { type, where, sort, count, total }: Omit<FindQuery, 'include'>,
  includes: readonly IncludeDirective[],
  graph: string | undefined,
  explanation: Explanation,
): string[] {
  const { compiled, driving, probes, indexes, examined, returned } = explanation;
  const rows: (readonly [string, string])[] = [
    ['type', type],
    ['where', printCondition(where)],
    ['order', printSort(sort)],
    ['page', `${count}, total ${total}`],
    ...includes.map((each, i) => [i === 0 ? 'includes' : '', printInclude(each)] as const),
    ...(graph === undefined ? [] : [['graph', `${graph}: followed from the page, by searches of its own`] as const]),
    ...compiled.map((text, i) => [i === 0 ? 'runs' : '', text] as const),
    ...probes.map(
      ({ condition, matches, isMore }, i) =>
        [i === 0 ? 'counted' : '', `${condition}: ${matches}${isMore ? ' or more' : ''}`] as const,
    ),
    ['begins with', driving],
    ['indexes', indexes.join(', ') || 'none'],
    ['examined', `${examined} for ${returned} returned`],
  ];
  return rows.flatMap(([name, text]) =>
    printableLines(text).map((line, i) => `${(i === 0 ? name : '').padEnd(12)}${line}`),
  );
}

/** `Observation.subject -> Patient`, `<- Observation.subject`, again and again. */
function printInclude({ isReverse, source, params, targets, iterates }: IncludeDirective): string {
  const from = `${source}.${params.join('|')}`;
  const to = targets?.join('|') ?? 'any';
  return `${isReverse ? `${to} <- ${from}` : `${from} -> ${to}`}${iterates ? ', again and again' : ''}`;
}

function printableLines(text: string): string[] {
  return text.split('\n').map(printable);
}
