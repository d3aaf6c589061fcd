import { ConfigError } from '../config/config-error.js';
import type { Flags } from '../config/read-config.js';
import { countsAll, storedGroups } from '../hfql/collect.js';
import { compileStatement } from '../hfql/compile-statement.js';
import { csvLine } from '../hfql/csv.js';
import { parseCsv } from '../hfql/parse-csv.js';
import { parseStatement } from '../hfql/parse-statement.js';
import type { SelectItem } from '../hfql/statement.js';
import { printTable, type PrintedTable } from './tables/print-table.js';
import { textsOf, withOperations, type TargetOptions, type RunOperation } from './tables/run-operation.js';
import { writeWhole } from './tables/write-whole.js';
import { printable, type Terminal } from './terminal.js';

/** Options of `kiln hfql`. */
export interface HfqlFlags extends TargetOptions {
  readonly csv?: string;
  readonly explain?: boolean;
}

/** Sends the arguments of `$hfql-execute`, by name, and gives its CSV. @throws Error in one line */
type Ask = (
  action: 'search' | 'searchContinuation',
  args: Readonly<Record<string, string | number>>,
) => Promise<AsyncIterable<string>>;

/** Rows of one answer. */
const FETCH_SIZE = 1000;

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
  const isExplained = options.explain === true;
  return withOperations(options, flags, terminal, async (run, core) => {
    if (isExplained && (core === undefined || options.csv !== undefined))
      throw new ConfigError('--explain looks at a store alone, without --url and --csv');
    if (isExplained && core !== undefined) explain(statement, core.definitions.current().tables, terminal);
    else await show(askBy(run), statement, options, terminal);
  });
}

function askBy(run: RunOperation): Ask {
  return async (action, args) => textsOf(await run('hfql-execute', parametersOf(action, args)));
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
  let count = -1;
  const counting = async function* (): AsyncGenerator<string> {
    for await (const line of csvLines(result)) {
      count++;
      yield line;
    }
  };
  await writeWhole(csv, counting());
  terminal.out(`${count} rows in ${printable(csv)}`);
}

/** @throws Error with what is wrong with the statement */
async function open(ask: Ask, query: string): Promise<PrintedTable> {
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

async function* csvLines({ names, rows }: PrintedTable): AsyncGenerator<string> {
  yield csvLine(names);
  for await (const fields of rows) yield csvLine(fields);
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
