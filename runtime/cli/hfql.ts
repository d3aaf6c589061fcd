import { createWriteStream } from 'node:fs';
import { realpath, rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

import { greatest } from '../fhir/lists.js';
import { OPERATOR } from '../auth/scopes/principal.js';
import { ConfigError } from '../config/config-error.js';
import { readConfig, type Flags } from '../config/read-config.js';
import { countsAll, storedGroups } from '../hfql/collect.js';
import { compileStatement } from '../hfql/compile-statement.js';
import { csvLine } from '../hfql/csv.js';
import { parseCsv } from '../hfql/parse-csv.js';
import { parseStatement } from '../hfql/parse-statement.js';
import type { SelectItem } from '../hfql/statement.js';
import type { Core } from '../server.js';
import { readUrl } from './load/load-options.js';
import { noAnswer } from './load/no-answer.js';
import { EXIT, failed, printable, type Terminal } from './terminal.js';

/** Options of `kiln hfql`. */
export interface HfqlFlags {
  readonly csv?: string;
  readonly url?: string;
  readonly token?: string;
  readonly explain?: boolean;
}

/** Sends the arguments of `$hfql-execute`, by name, and gives its CSV. @throws Error in one line */
type Ask = (
  action: 'search' | 'searchContinuation',
  args: Readonly<Record<string, string | number>>,
) => Promise<AsyncIterable<string>>;

/** Rows of one answer. */
const FETCH_SIZE = 1000;

/** Rows that a table is aligned by, and the greatest width of a column on a terminal, in characters. */
const TABLE = { rows: 1000, width: 60 };

/**
 * `kiln hfql STATEMENT`: runs a statement on a store, or on a server, and prints a table, or writes CSV as it comes.
 *
 * @returns the exit code: 1 where the statement failed
 * @throws ConfigError
 */
export async function runHfql(
  statement: string,
  options: HfqlFlags,
  flags: Flags,
  terminal: Terminal,
): Promise<number> {
  const url = readUrl(options.url, flags, terminal);
  const token = options.token ?? (terminal.env['KILN_TOKEN'] || undefined);
  if (options.token !== undefined && url === undefined) throw new ConfigError('--token goes with --url');
  if (options.token === '') throw new ConfigError('--token is empty: did kiln token fail?');
  if (options.explain === true && (url !== undefined || options.csv !== undefined)) {
    throw new ConfigError('--explain looks at a store alone, without --url and --csv');
  }
  const { config } = readConfig(flags, terminal.env);
  let close = (): Promise<void> => Promise.resolve();
  try {
    if (url !== undefined) {
      await show(askServer(url, token), statement, options, terminal);
      return EXIT.done;
    }
    const server = await import('../server.js');
    const core = await server.openCore(config, { existing: true });
    close = () => core.store.close();
    if (options.explain === true) explain(statement, core.definitions.current().tables, terminal);
    else await show(await askStore(core), statement, options, terminal);
    return EXIT.done;
  } catch (error) {
    return failed(error, terminal);
  } finally {
    await close();
  }
}

/** The operator, who has the store, asks: no token bounds the statement. */
async function askStore(core: Core): Promise<Ask> {
  const [{ createServing }, { hfqlExecute }] = await Promise.all([
    import('../http/create-services.js'),
    import('../operations/hfql-execute.js'),
  ]);
  const serving = createServing(core, core.definitions.current);
  return async (action, args) => {
    const call = {
      ...({ interaction: 'operation', operation: 'hfql-execute', level: 'system' } as const),
      ...{ principal: OPERATOR, params: new URLSearchParams(), conditions: {}, prefer: {}, base: '' },
      body: parametersOf(action, args),
    };
    const { body } = await hfqlExecute(call, serving().services);
    return pieces(body?.content as AsyncIterable<string>);
  };
}

async function* pieces(content: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const piece of content) yield piece;
}

function askServer(url: string, token: string | undefined): Ask {
  return async (action, args) => {
    let response: Response;
    try {
      response = await fetch(`${url.replace(/\/$/, '')}/$hfql-execute`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/fhir+json',
          ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify(parametersOf(action, args)),
        redirect: 'error', // the token is for this server
      });
    } catch (error) {
      throw new Error(noAnswer(url, error), { cause: error });
    }
    if (response.status !== 200 || response.body === null) {
      throw new Error(`the server answered ${response.status}: ${describe(await response.text())}`);
    }
    return response.body.pipeThrough(new TextDecoderStream()) as unknown as AsyncIterable<string>;
  };
}

function describe(text: string): string {
  try {
    const { issue = [] } = JSON.parse(text) as { issue?: { details?: { text?: string }; diagnostics?: string }[] };
    return issue
      .map(({ details, diagnostics }) => details?.text ?? diagnostics ?? '')
      .join('; ')
      .slice(0, 500);
  } catch {
    return text.slice(0, 200);
  }
}

function parametersOf(action: string, args: Readonly<Record<string, string | number>>) {
  const parameter = Object.entries(args).map(([name, value]) =>
    typeof value === 'number' ? { name, valueInteger: value } : { name, valueString: value },
  );
  return { resourceType: 'Parameters', parameter: [{ name: 'action', valueCode: action }, ...parameter] };
}

async function show(ask: Ask, statement: string, { csv }: HfqlFlags, terminal: Terminal): Promise<void> {
  const result = await open(ask, statement);
  if (csv === undefined) return printTable(result, terminal);
  if (csv === '-') {
    for await (const line of csvLines(result)) terminal.out(line.slice(0, -1));
    return;
  }
  const count = await writeFile(csv, result);
  terminal.out(`${count} rows in ${printable(csv)}`);
}

/** A result as it is read: all of its rows, whatever they come in. */
interface Result {
  readonly names: readonly string[];
  readonly rows: AsyncIterable<readonly string[]>;
}

/** @throws Error with what is wrong with the statement */
async function open(ask: Ask, query: string): Promise<Result> {
  const first = await head(await ask('search', { query, fetchSize: FETCH_SIZE }));
  const { select } = JSON.parse(first.statement) as { select: SelectItem[] };
  return { names: select.map(({ alias }) => alias), rows: allRows(first) };

  async function* allRows({ searchId, statement, limit, records }: Head): AsyncGenerator<readonly string[]> {
    let rest: AsyncIterable<readonly string[]> = records;
    for (;;) {
      let count = 0;
      let last = -1;
      for await (const [index = '', ...fields] of rest) {
        if (index === '-1') throw new Error(printable(fields[0] ?? ''));
        last = Number(index);
        count++;
        yield fields;
      }
      if (searchId === '' || count < FETCH_SIZE) return;
      const more = { continuation: searchId, statement, offset: last + 1, limit, fetchSize: FETCH_SIZE };
      rest = (await head(await ask('searchContinuation', more))).records;
    }
  }
}

interface Head {
  readonly searchId: string;
  readonly limit: number;
  readonly statement: string;
  /** What follows. */
  readonly records: AsyncIterable<readonly string[]>;
}

async function head(text: AsyncIterable<string>): Promise<Head> {
  const records = parseCsv(text);
  await records.next();
  const { value } = await records.next();
  const [searchId = '', limit = '', statement = ''] = (value ?? []) as readonly string[];
  return { searchId, limit: Number(limit), statement, records };
}

async function* csvLines({ names, rows }: Result): AsyncGenerator<string> {
  yield csvLine(names);
  for await (const fields of rows) yield csvLine(fields);
}

/**
 * Writes all rows to a file, or leaves it as it was: they go to one beside it first. What is no file (`/dev/null`) is written to at once.
 *
 * @returns how many rows there were
 */
async function writeFile(file: string, result: Result): Promise<number> {
  let count = -1;
  const write = (to: string, mode = 0o666): Promise<void> =>
    pipeline(
      async function* () {
        for await (const line of csvLines(result)) {
          count++;
          yield line;
        }
      },
      createWriteStream(to, { mode }),
    );
  const before = await stat(file).catch(() => undefined);
  if (before?.isFile() === false) {
    await write(file);
    return count;
  }
  const place = before === undefined ? file : await realpath(file);
  const part = `${place}.${process.pid}.part`;
  try {
    await write(part, before?.mode);
    await rename(part, place);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  return count;
}

/** Columns are as wide as what the first rows have. */
async function printTable({ names, rows }: Result, terminal: Terminal): Promise<void> {
  const held: (readonly string[])[] = [names];
  let widths: readonly number[] | undefined;
  let count = 0;
  const print = (fields: readonly string[]): void =>
    terminal.out(
      fields
        .map((field, i) => cut(field).padEnd(widths?.[i] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  const flush = (): void => {
    widths = names.map((_, i) => greatest(held.map((fields) => cut(fields[i] ?? '').length)));
    const [first = [], ...others] = held;
    print(first);
    print(widths.map((width) => '-'.repeat(width)));
    others.forEach(print);
  };
  for await (const fields of rows) {
    count++;
    if (widths !== undefined) print(fields);
    else if (held.push(fields) > TABLE.rows) flush();
  }
  if (widths === undefined) flush();
  terminal.out(`${count} ${count === 1 ? 'row' : 'rows'}`);
}

function cut(field: string): string {
  const text = printable(field);
  return text.length > TABLE.width ? `${text.slice(0, TABLE.width - 1)}…` : text;
}

/** Prints how a statement would be run. */
function explain(text: string, tables: Parameters<typeof compileStatement>[1], terminal: Terminal): void {
  const compiled = compileStatement(parseStatement(text, tables.resourceTypes), tables);
  const { statement, plan, isGrouped, order } = compiled;
  const isCounted = storedGroups(compiled) !== undefined || countsAll(compiled);
  const { required, helping, filters } = plan;
  const query = [...required, ...helping].map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
  const lines: (readonly [string, string])[] = [
    ['search', `${statement.fromResourceName}${query === '' ? '' : `?${query}`}`],
    ...filters.map(({ left, operator, right }) => {
      const test = operator === 'UNARY_BOOLEAN' ? left : `${left} ${operator} ${right.join(', ')}`;
      return ['tests', `${test}, on each resource that the search finds`] as const;
    }),
    ...statement.select.map(({ alias, operator, clause, dataType }) => {
      const source = operator === 'COUNT' ? `COUNT(${clause})` : clause;
      return ['column', `${alias} ${dataType}${alias === source ? '' : ` from ${source}`}`] as const;
    }),
    ...(isGrouped ? [['groups', `${statement.groupBy.join(', ') || 'all in one'}, ${isCounted ? 'counted by the store' : 'in memory'}`] as const] : []), // prettier-ignore
    ...order.map(
      ({ column, ascending }) =>
        [
          'sorts',
          `${statement.select[column]?.alias ?? ''} ${ascending ? 'ascending' : 'descending'}, in memory`,
        ] as const,
    ),
  ];
  for (const [name, value] of lines) terminal.out(`${name.padEnd(8)}${printable(value)}`);
}
