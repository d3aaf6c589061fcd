import { ConfigError } from '../config/config-error.js';
import { readConfig, type Flags } from '../config/read-config.js';
import { DEFAULT_SERVICES } from '../core/default-services.js';
import {
  explainSearch,
  type ExplainedQuery,
  type ExplainedSearch,
} from '../search-execution/explain/explain-search.js';
import { printEstimate, printWay } from '../search-execution/explain/print-plan.js';
import { printInclude } from '../search-execution/explain/print-include.js';
import { SEARCH_URL_HELP, splitSearch, type SearchUrl } from '../search-execution/explain/search-url.js';
import { readSearchRequest } from '../search-execution/parse/search-request.js';
import { scopeOf } from '../search-execution/parse/scope.js';
import { printCondition, printSort } from '../search/query/print.js';
import type { Core } from '../server.js';
import { EXIT, failed, printable, type Terminal } from './terminal.js';

/** How the plan of a search is printed. */
export interface ExplainOptions {
  /** As a page for a browser, which needs nothing else. */
  readonly html?: boolean;
}

/**
 * `kiln explain-search URL`: what a search is understood as, what the store makes of it, and what it looks at for the
 * first page. The search is done for that; of several types each by itself, those without resources left out.
 *
 * @returns the exit code
 * @throws ConfigError for what is no search
 */
export async function runExplainSearch(
  search: string,
  { html = false }: ExplainOptions,
  flags: Flags,
  terminal: Terminal,
): Promise<number> {
  const { config } = readConfig(flags, terminal.env);
  const url = splitSearch(search);
  if (url === undefined) throw new ConfigError(`${JSON.stringify(search)}: ${SEARCH_URL_HELP}`);
  let close = (): Promise<void> => Promise.resolve();
  try {
    const { openCore } = await import('../server.js');
    const core = await openCore(config, { existing: true });
    close = () => core.store.close();
    const explained = await explain(url, core);
    for (const text of explained.notes) terminal.err(printable(text));
    if (html) {
      const { planDocument } = await import('../pages/plan-page.js');
      terminal.out(planDocument(explained, search));
    } else for (const line of describeAll(explained)) terminal.out(line);
    return EXIT.done;
  } catch (error) {
    return failed(error, terminal);
  } finally {
    await close();
  }
}

async function explain({ segments, query }: SearchUrl, core: Core): Promise<ExplainedSearch> {
  const { store, extract, tables } = core;
  const [{ searchServices }, { findCodes }] = await Promise.all([
    import('../server.js'),
    import('../terminology/operations/search-codes.js'),
  ]);
  const services = searchServices(core);
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
  const now = Date.now();
  const searched = scope.type === undefined ? { types: scope.types } : { type: scope.type };
  const request = readSearchRequest({ now, ...searched, params, isLenient: false, isPosted: false }, services);
  const bounds = { types: request.types, include: request.include, effect: '' };
  return explainSearch({ scope, request, now }, bounds, {
    ...DEFAULT_SERVICES,
    ...services,
    ...{ store, extract, findCodes, largeTexts: undefined, limits: {} },
  });
}

function describeAll({ queries, includes, graph }: ExplainedSearch): string[] {
  if (queries.length === 0) return ['none of the types that are searched has any resources'];
  return queries.flatMap((query) => describe(query, includes.map(printInclude), graph));
}

function describe(
  { type, where, sort, count, total, explanation }: ExplainedQuery,
  includes: readonly string[],
  graph: string | undefined,
): string[] {
  const rows: (readonly [string, string])[] = [
    ['type', type],
    ['where', printCondition(where)],
    ['order', printSort(sort)],
    ['page', `${count}, total ${total}`],
    ...includes.map((each, i) => [i === 0 ? 'includes' : '', each] as const),
    ...(graph === undefined ? [] : [['graph', `${graph}: followed from the page, by searches of its own`] as const]),
    ...(explanation === undefined ? [] : describeWork(explanation, sort.length > 0)),
  ];
  return rows.flatMap(([name, text]) =>
    printableLines(text).map((line, i) => `${(i === 0 ? name : '').padEnd(12)}${line}`),
  );
}

function describeWork(
  explanation: NonNullable<ExplainedQuery['explanation']>,
  isSorted: boolean,
): (readonly [string, string])[] {
  const { compiled, driving, filters, estimated, probes, indexes, examined, returned } = explanation;
  return [
    ...compiled.map((text, i) => [i === 0 ? 'runs' : '', text] as const),
    ...probes.map(
      ({ condition, matches, isMore }, i) =>
        [i === 0 ? 'counted' : '', `${condition}: ${matches}${isMore ? ' or more' : ''}`] as const,
    ),
    ['indexes', indexes.join(', ') || 'none'],
    ['source', `${driving} (${printWay(explanation, isSorted)})`],
    ['filters', filters.join('; ') || 'none'],
    ['estimated', printEstimate(estimated)],
    ['seen', `${examined.toLocaleString('en')} rows for ${returned} returned`],
  ];
}

function printableLines(text: string): string[] {
  return text.split('\n').map(printable);
}
