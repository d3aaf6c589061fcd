import { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';

import type { ColumnKind } from '../column-kind.js';
import type {
  FromProcess,
  ResultColumn,
  SqlColumn,
  SqlQuery,
  SqlRow,
  SqlValue,
  TableLimits,
  ToProcess,
} from './messages.js';
import { unionParts } from './union-parts.js';

/** Characters of a row of the result, at most. */
const LONGEST_ROW = 16_000_000;

let limits: TableLimits = { rows: 1_000_000, pages: 98_304 };

/** Greatest size of a message: rows, and characters. */
const MESSAGE = { rows: 500, characters: 256 * 1024 };

/** Failures for which a query needs too much. */
const COSTLY: ReadonlySet<unknown> = new Set(['SQLITE_NOMEM', 'SQLITE_FULL', 'SQLITE_TOOBIG']);

/** Affinities of SQLite. Decimals are REAL, also whole ones: a division of integers drops what is after the point. https://www.sqlite.org/datatype3.html */
const DECLARED: Readonly<Record<ColumnKind, string>> = {
  ...{ boolean: 'BOOLEAN', integer: 'INT', integer64: 'BIGINT', decimal: 'REAL' },
  ...{ instant: 'TEXT', binary: 'TEXT', text: 'TEXT', object: 'TEXT' },
};

/** Column of a table, with where its values come from. */
type Origin = ResultColumn['origin'];

/** A failure that is the statement's. */
class QueryFailure extends Error {
  constructor(
    text: string,
    readonly isCostly = false,
  ) {
    super(text);
  }
}

/** A statement that is prepared over its tables, which have no rows yet. */
interface Prepared {
  readonly db: Database.Database;
  readonly statement: Database.Statement;
  readonly columns: readonly ResultColumn[];
  readonly tables: readonly PreparedTable[];
}

interface PreparedTable {
  readonly label: string;
  readonly width: number;
  readonly view?: number;
  readonly query?: Prepared;
}

/** Whether the tables may have rows. */
let hasData = false;

let receive: (message: ToProcess) => void = () => {};
process.on('message', (message: ToProcess) => receive(message));
process.on('disconnect', () => process.exit());
endWithParent();
await new Promise<ToProcess>((resolve) => (receive = resolve)).then(run).catch((error: unknown) => {
  process.send?.(describe(error));
});

/** A statement that runs keeps this thread from everything: another one looks whether the server is still there. */
function endWithParent(): void {
  const code = `setInterval(() => { if (process.ppid !== ${process.ppid}) process.kill(process.pid, 'SIGKILL'); }, 250)`;
  const resourceLimits = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 };
  new Worker(code, { eval: true, resourceLimits }).unref();
}

function ask(message: FromProcess): Promise<ToProcess> {
  return new Promise((resolve) => {
    receive = resolve;
    process.send?.(message);
  });
}

async function run(first: ToProcess): Promise<void> {
  if (!('query' in first)) return;
  limits = first.limits ?? limits;
  const prepared = prepare(first.query, first.views);
  await ask({ columns: prepared.columns });
  hasData = true;
  await fill(prepared);
  let rows: SqlRow[] = [];
  let size = 0;
  for (const row of resultOf(prepared)) {
    const cells = row.map(toMessage);
    const characters = cells.reduce<number>((sum, cell) => sum + sizeOf(cell), 0);
    if (characters > LONGEST_ROW) throw new QueryFailure(`a row has more than ${LONGEST_ROW} characters`);
    rows.push(cells);
    size += characters;
    if (rows.length < MESSAGE.rows && size < MESSAGE.characters) continue;
    await ask({ rows });
    [rows, size] = [[], 0];
  }
  if (rows.length > 0) await ask({ rows });
  process.send?.({ rows: [] } satisfies FromProcess);
}

/** Makes the tables of a statement and those below it, in a database for each, and prepares it. */
function prepare(query: SqlQuery, views: readonly (readonly SqlColumn[])[]): Prepared {
  const db = new Database(':memory:');
  for (const setting of ['journal_mode = off', 'temp_store = memory', `max_page_count = ${limits.pages}`])
    db.pragma(setting);
  const origins = new Map<string, Map<string, Origin>>();
  const tables = query.tables.map(({ label, view, query: below }): PreparedTable => {
    const inner = below === undefined ? undefined : prepare(below, views);
    const columns: readonly (ResultColumn & { readonly kind?: ColumnKind })[] =
      inner?.columns ?? (views[view ?? -1] ?? []).map((each, i) => ({ ...each, origin: [view ?? 0, i] as const }));
    const declared = columns.map(({ name, origin }) => {
      const { kind, isCollection = false } = (origin && views[origin[0]]?.[origin[1]]) ?? {};
      return kind === undefined ? identifier(name) : `${identifier(name)} ${isCollection ? 'TEXT' : DECLARED[kind]}`;
    });
    db.exec(`CREATE TABLE ${identifier(label)} (${declared.join(', ')})`);
    origins.set(label.toLowerCase(), new Map(columns.map(({ name, origin }) => [name.toLowerCase(), origin])));
    const source = inner === undefined ? { view: view ?? 0 } : { query: inner };
    return { label, width: columns.length, ...source };
  });
  const statement = db.prepare(query.sql);
  // An ATTACH is read-only, and PRAGMA and EXPLAIN read: the server has looked at the first word.
  if (!statement.reader || !statement.readonly) throw new QueryFailure('the statement reads no rows, or changes something'); // prettier-ignore
  const values = Object.entries(query.values).map(([name, value]) => [name, fromMessage(value)]);
  statement.bind(Object.fromEntries(values)).raw().safeIntegers();
  const originsOf = (each: Database.Statement): Origin[] =>
    each
      .columns()
      .map(({ table, column }) => origins.get(table?.toLowerCase() ?? '')?.get(column?.toLowerCase() ?? ''));
  const typeOf = (origin: Origin): string | undefined => {
    const { type, isCollection } = (origin && views[origin[0]]?.[origin[1]]) ?? {};
    return type && `${type} ${isCollection}`;
  };
  // SQLite describes the columns of the first SELECT alone.
  const [, ...parts] = unionParts(query.sql) ?? ['', ''];
  const own = originsOf(statement);
  const others = parts.map((part) => {
    try {
      return originsOf(db.prepare(part));
    } catch {
      return [];
    }
  });
  const columns = statement.columns().map(({ name }, i): ResultColumn => {
    const origin = others.every((each) => typeOf(each[i]) === typeOf(own[i])) ? own[i] : undefined;
    return { name, ...(origin !== undefined && { origin }) };
  });
  const names = columns.map(({ name }) => name.toLowerCase());
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new QueryFailure(`two columns have the name ${twice.slice(0, 100)}; name them by AS`);
  return { db, statement, columns, tables };
}

async function fill({ db, tables }: Prepared): Promise<void> {
  for (const { label, width, view, query } of tables) {
    const insert = db.prepare(`INSERT INTO ${identifier(label)} VALUES (${new Array(width).fill('?').join()})`);
    let count = 0;
    const add = (row: readonly unknown[]): void => {
      if (++count > limits.rows) throw new QueryFailure(`the table ${label} has more than ${limits.rows} rows`);
      insert.run(row);
    };
    if (query !== undefined) {
      await fill(query);
      db.exec('BEGIN');
      for (const row of resultOf(query)) add(row);
      db.exec('COMMIT');
      query.db.close();
      continue;
    }
    for (;;) {
      const answer = await ask({ view: view ?? 0 });
      const rows = 'rows' in answer ? answer.rows : [];
      if (rows.length === 0) break;
      db.exec('BEGIN');
      for (const row of rows) add(row.map(fromMessage));
      db.exec('COMMIT');
    }
  }
  db.pragma('query_only = on');
}

function resultOf({ statement }: Prepared): IterableIterator<readonly unknown[]> {
  return statement.iterate() as IterableIterator<readonly unknown[]>;
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function fromMessage(value: SqlValue): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if ('real' in value) return value.real;
  return 'integer' in value ? BigInt(value.integer) : Buffer.from(value.bytes, 'base64');
}

function toMessage(value: unknown): SqlValue {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : { integer: String(value) };
  }
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('base64') };
  if (typeof value === 'number' && !Number.isFinite(value)) throw new QueryFailure('a value is infinite');
  if (typeof value === 'number' && Number.isInteger(value)) return { real: value };
  return value as SqlValue;
}

function sizeOf(value: SqlValue): number {
  if (typeof value === 'string') return value.length;
  return typeof value === 'object' && value !== null && 'bytes' in value ? value.bytes.length : 1;
}

/**
 * What is wrong, in the words of SQLite, which name what the statement names. When tables have rows they may quote values, which no log
 * may have.
 */
function describe(error: unknown): FromProcess {
  if (error instanceof QueryFailure) return { failure: error.message, isCostly: error.isCostly };
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  const isCostly = error === undefined || COSTLY.has(code);
  const text = String(message).slice(0, 500);
  return { failure: hasData ? text.replace(/['"][^]*$/, '…') : text, isCostly };
}
