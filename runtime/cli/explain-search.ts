import { ConfigError } from '../config/config-error.js';
import { readConfig, type Flags } from '../config/read-config.js';
import { resolveCriteria } from '../interactions/resolve-hierarchies.js';
import { readSearchRequest } from '../interactions/search-request.js';
import { printCondition, printSort } from '../search/query/print.js';
import type { Explanation, FindQuery } from '../store/store.js';
import { EXIT, messageOf, printable, type Terminal } from './terminal.js';

/**
 * `kiln explain-search URL`: what a search is understood as, what the store makes of it, and what it looks at for the
 * first page. The search is done for that.
 *
 * @returns the exit code
 * @throws ConfigError for what is no search
 */
export async function runExplainSearch(search: string, flags: Flags, terminal: Terminal): Promise<number> {
  const { config } = readConfig(flags, terminal.env);
  const { base, type, params } = splitSearch(search);
  let close = (): Promise<void> => Promise.resolve();
  try {
    const { openCore, searchServices, RESOURCE_TYPES } = await import('../server.js');
    if (!RESOURCE_TYPES.includes(type)) throw new Error(`there is no resource type ${JSON.stringify(type)}`);
    const core = await openCore(config, { existing: true });
    close = () => core.store.close();
    const input = { type, params, isLenient: false, isPosted: false, now: Date.now(), base };
    const { criteria, sort, count, total, notes } = readSearchRequest(input, searchServices(core));
    const find = core.store.find.bind(core.store);
    const where = await resolveCriteria(criteria, { find, extract: core.extract, base });
    const query: FindQuery = { type, where, sort, count, total };
    const explanation = await core.store.explain(query);
    for (const { text } of notes) terminal.err(printable(text));
    for (const line of describe(query, explanation)) terminal.out(line);
    return EXIT.done;
  } catch (error) {
    terminal.err(`kiln: ${messageOf(error)}`);
    return EXIT.failed;
  } finally {
    await close();
  }
}

/** `Patient?name=x`, `/fhir/Patient?name=x`, `http://host/fhir/Patient/_search?name=x`. */
function splitSearch(search: string) {
  const mark = search.indexOf('?');
  const path = (mark < 0 ? search : search.slice(0, mark)).replace(/\/(?:_search\/?)?$/, '');
  const slash = path.lastIndexOf('/');
  const type = path.slice(slash + 1);
  if (type === '') throw new ConfigError(`${JSON.stringify(search)}: has to begin with a type, as in Patient?name=x`);
  const query = new URLSearchParams(mark < 0 ? '' : search.slice(mark + 1));
  const params = [...query].map(([name, value]) => ({ name, value, isInUrl: true }));
  // Without it, absolute references are those of other servers.
  return { base: slash < 0 ? '' : path.slice(0, slash), type, params };
}

function describe({ type, where, sort, count, total }: FindQuery, explanation: Explanation): string[] {
  const { compiled, driving, probes, indexes, examined, returned } = explanation;
  const rows: (readonly [string, string])[] = [
    ['type', type],
    ['where', printCondition(where)],
    ['order', printSort(sort)],
    ['page', `${count}, total ${total}`],
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

function printableLines(text: string): string[] {
  return text.split('\n').map(printable);
}
