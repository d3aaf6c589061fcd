import type { ChildProcess } from 'node:child_process';

import { parseExact } from '../../core/parse-stored.js';
import { Decimal } from '../../fhir/decimal.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonValue } from '../../fhir/resource.js';
import { writeJson } from '../../format/write-json.js';
import type { Column } from '../column-kind.js';
import type { ViewRow } from '../compile-view.js';
import { RowError } from '../view-error.js';
import { utcOf } from './utc.js';
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
import { withProcess } from './processes.js';

/** How long the statements of a query may take together, in milliseconds. */
const LONGEST = 10_000;

/** Rows of the tables that a message has, and characters of their texts, about. */
const MESSAGE = { rows: 500, characters: 4 * 1024 * 1024 };

/** A view below a query. */
export interface QueryView {
  readonly columns: readonly Column[];
  /** Opens its rows; a query with the view in two places reads them twice. */
  readonly open: () => AsyncIterable<readonly ViewRow[]>;
}

/** The table of a query. */
export interface QueryResult {
  readonly columns: readonly Column[];
  readonly batches: AsyncIterable<readonly ViewRow[]>;
}

/**
 * Runs a query over the tables of its views, in a process of its own that has nothing else.
 *
 * @returns its table, once; the process ends when that is done with
 * @throws FhirError `view-invalid` for what SQLite refuses, `too-costly`, `server-busy`; RowError
 */
export async function* runQuery(
  query: SqlQuery,
  views: readonly QueryView[],
  signal: AbortSignal | undefined,
  limits?: TableLimits,
): AsyncGenerator<QueryResult> {
  for await (const child of withProcess(signal)) {
    const talk = new Talk(child, signal);
    let message = await talk.say({ query, views: describeViews(views), ...(limits !== undefined && { limits }) });
    if (!('columns' in message)) throw new Error('the process of a query does not answer as it should');
    const found = message.columns;
    message = await talk.say({ next: true });
    while ('view' in message) message = await sendRows(views[message.view], talk);
    const first = 'rows' in message ? message.rows : [];
    const columns = found.map((column, i) => describeColumn(column, first, i, views));
    const batches = (async function* () {
      for (let rows = first; rows.length > 0;) {
        yield rows.map((row) => row.map((cell, i) => toCell(cell, columns[i])));
        const next = await talk.say({ next: true });
        rows = 'rows' in next ? next.rows : [];
      }
    })();
    yield { columns, batches };
  }
}

/** Prepares the statements of a query over empty tables. @throws FhirError as `runQuery` */
export async function checkQuery(
  query: SqlQuery,
  views: readonly Pick<QueryView, 'columns'>[],
  signal: AbortSignal | undefined,
): Promise<void> {
  for await (const child of withProcess(signal)) {
    await new Talk(child, signal).say({ query, views: describeViews(views) });
  }
}

function describeViews(views: readonly Pick<QueryView, 'columns'>[]): SqlColumn[][] {
  return views.map(({ columns }) => columns.map(({ name, type, kind, isCollection }) => ({ name, type, kind, isCollection }))); // prettier-ignore
}

/** Sends the rows of a view until there are no more. */
async function sendRows(view: QueryView | undefined, talk: Talk): Promise<FromProcess> {
  for await (const rows of view?.open() ?? []) {
    let part: SqlRow[] = [];
    let size = 0;
    for (const row of rows) {
      const cells = row.map((cell, at) => toSql(cell, view?.columns[at]));
      for (const cell of cells) if (typeof cell === 'string') size += cell.length;
      if (part.push(cells) < MESSAGE.rows && size < MESSAGE.characters) continue;
      await talk.say({ rows: part });
      [part, size] = [[], 0];
    }
    if (part.length > 0) await talk.say({ rows: part });
  }
  return talk.say({ rows: [] });
}

/** Messages to a process, each with its answer. All together have to come within the time, but for those that fill tables. */
class Talk {
  private left = LONGEST;

  constructor(
    private readonly child: ChildProcess,
    private readonly signal: AbortSignal | undefined,
  ) {}

  async say(message: ToProcess): Promise<FromProcess> {
    const begun = performance.now();
    const answer = await new Promise<FromProcess>((resolve, reject) => {
      const { child, signal } = this;
      const end = (): void => {
        clearTimeout(timer);
        child.off('message', onMessage).off('exit', onExit).off('error', onExit);
        signal?.removeEventListener('abort', onAbort);
      };
      const fail = (error: unknown): void => {
        end();
        reject(error as Error);
      };
      const onMessage = (found: unknown): void => {
        end();
        resolve(found as FromProcess);
      };
      const onExit = (): void => fail(new FhirError('too-costly', 'The query needs more memory than it may have, or its process was ended')); // prettier-ignore
      const onAbort = (): void => fail(signal?.reason);
      const timer = setTimeout(() => {
        fail(new FhirError('too-costly', `The query takes more than ${LONGEST / 1000} s; narrow its tables, or join them by fewer rows`)); // prettier-ignore
      }, this.left);
      if (signal?.aborted === true) return onAbort();
      signal?.addEventListener('abort', onAbort, { once: true });
      child.on('message', onMessage).on('exit', onExit).on('error', onExit);
      if (!child.connected) return onExit();
      child.send(message, (error) => {
        if (error !== null) onExit();
      });
    });
    const isFilling = 'rows' in message && message.rows.length > 0;
    if (!isFilling) this.left = Math.max(1, this.left - (performance.now() - begun));
    if (!('failure' in answer)) return answer;
    if (answer.isCostly) throw new FhirError('too-costly', 'The query needs more memory than it may have');
    throw new FhirError('view-invalid', `The query cannot be run: ${answer.failure}`);
  }
}

/** A column of a result: as that of the view that it passes through; of computed ones the first rows tell what they hold. */
function describeColumn(
  { name, origin }: ResultColumn,
  rows: readonly SqlRow[],
  at: number,
  views: readonly QueryView[],
): Column {
  const known = origin === undefined ? undefined : views[origin[0]]?.columns[origin[1]];
  if (known !== undefined) return { ...known, name };
  const values = rows.map((row) => row[at] ?? null).filter((value) => value !== null);
  const isNumber = values.length > 0 && values.every((value) => typeof value !== 'string' && !isBytes(value));
  const isWhole = values.every((value) => (typeof value === 'object' ? 'integer' in value : Number.isInteger(value)));
  const sqlType = isNumber ? (isWhole ? 'BIGINT' : 'DOUBLE PRECISION') : 'CHARACTER VARYING';
  return { name, type: '', kind: 'text', isCollection: false, isOpen: true, sqlType };
}

function isBytes(value: SqlValue): value is { readonly bytes: string } {
  return typeof value === 'object' && value !== null && 'bytes' in value;
}

function toSql(cell: JsonValue, column: Column | undefined): SqlValue {
  if (cell === null) return null;
  // A column without a known type may hold numbers, which a column of texts would have as 7.0.
  if (typeof cell !== 'object' && typeof cell !== 'string' && column?.kind === 'text') return String(cell);
  if (typeof cell === 'boolean') return Number(cell);
  if (typeof cell === 'object') {
    if (cell instanceof Decimal) return column?.kind === 'integer64' ? { integer: String(cell) } : String(cell);
    return writeJson(cell);
  }
  return column !== undefined && isTime(column) && typeof cell === 'string' ? utcOf(cell) : cell;
}

/** A value of the result as a cell. What passes through a table comes out as it was in its view, but for decimals and zones. */
function toCell(value: SqlValue, column: Column | undefined): JsonValue {
  if (typeof value === 'object') {
    if (value === null) return column?.isCollection === true && column.type !== '' ? [] : null;
    if ('real' in value) return value.real;
    return 'integer' in value ? new Decimal(value.integer) : value.bytes;
  }
  if (column === undefined || column.type === '') return value;
  if (column.isCollection || column.kind === 'object') return readWhole(value, column);
  if (column.kind === 'boolean' && (value === 0 || value === 1)) return value === 1;
  if (column.kind === 'integer64' && typeof value === 'string')
    throw new RowError(`the column ${column.name} has a text`);
  return isTime(column) && typeof value === 'string' ? value.replace(/\+00:00$/, 'Z') : value;
}

/** Whether a column holds instants, or dates that may have a time. */
function isTime({ kind, type }: Column): boolean {
  return kind === 'instant' || /(?:^|\.)dateTime$/i.test(type);
}

/** The list or object that a text is. In a compound SELECT anything may be in its column; what that is, no log may have. @throws RowError */
function readWhole(value: string | number, { name, isCollection }: Column): JsonValue {
  try {
    const found = parseExact(String(value));
    if (isCollection ? Array.isArray(found) : isObject(found)) return found;
  } catch {
    // As below.
  }
  throw new RowError(`the column ${name} has a value that is no ${isCollection ? 'list' : 'object'}`);
}
