import { createHash, randomUUID } from 'node:crypto';

import type { Call } from '../core/call.js';
import { withinBudget } from '../search-execution/execute/search-budget.js';
import type { Services } from '../core/services.js';
import { FhirError } from '../fhir/errors.js';
import { yieldToEventLoop } from '../fhir/yield-to-event-loop.js';
import { PRODUCT } from '../fhir/product.js';
import type { ReadNotes } from '../core/read-notes.js';
import { collectRows, noteResource } from './collect.js';
import { compileStatement, fieldsOf, rowOf, type CompiledStatement } from './compile-statement.js';
import { csvLine } from './csv.js';
import type { StaticResult } from './introspect.js';
import { openMatches, type Matches } from './matches.js';
import type { RawStatement } from './parse-statement.js';
import { keepPosition, positionOf } from './positions.js';
import { StatementError } from './statement.js';

/** Which rows of a statement are wanted. */
export interface Wanted {
  /** Rows in all; undefined: as many as there are. */
  readonly limit: number | undefined;
  /** Rows of one answer. */
  readonly fetchSize: number;
  /** Of a search that goes on: its id, and the index of the first resource that is wanted. */
  readonly from?: { readonly searchId: string; readonly offset: number };
}

/** Resources that are read at a time. */
const BATCH = 500;

/** Version of the form of the answer. */
const PROTOCOL = '1';

const PRODUCT_TEXT = `${PRODUCT.name} ${PRODUCT.version}`;

/** What says that a row is an error. */
const ERROR_ROW = '-1';

/**
 * Runs a statement. The answer is CSV: a line about the protocol, a line about the search, and the rows, each after the index of its
 * resource in the search. Rows are read as they are sent.
 *
 * @param reads is notified of the resources that rows are made of
 * @throws StatementError for what is wrong with the statement, found before the first row
 * @throws FhirError `scope-missing`, `too-costly`
 */
export async function runStatement(
  raw: RawStatement,
  wanted: Wanted,
  call: Call,
  services: Services,
  reads?: ReadNotes,
): Promise<AsyncIterable<string>> {
  const compiled = compileStatement(raw, services.tables);
  const { statement, plan, isGrouped, order } = compiled;
  const limit = least(statement.limit, wanted.limit);
  return withinBudget(services.limits.queryTime, call.signal, async (signal) => {
    const own = signal === undefined ? call : { ...call, signal };
    const matches = await openMatches(statement.fromResourceName, plan, own, services);
    if (isGrouped || order.length > 0) {
      const rows = await collectRows(compiled, matches, reads);
      return staticCsv({ select: statement.select, rows: rows.slice(0, limit) });
    }
    const searchId = wanted.from?.searchId ?? randomUUID();
    const head = csvHead(searchId, limit ?? -1, wanted.from === undefined ? JSON.stringify(statement) : '');
    const rows = rowsOf(compiled, matches, { ...wanted, limit, searchId }, services, reads);
    // What fails before the first rows is reported in another form than what fails later.
    const first = await rows.next();
    return first.done === true ? once(head) : streamed(head + first.value, rows);
  });
}

/** The answer that has all rows. */
export function staticCsv({ select, rows }: StaticResult): AsyncIterable<string> {
  const statement = JSON.stringify({ select, where: [], groupBy: [], orderBy: [] });
  const lines = rows.map((fields, i) => csvLine([String(i), ...fields]));
  return once(csvHead('', 0, statement) + lines.join(''));
}

/** The answer that says what is wrong with a statement. */
export function errorCsv({ message }: StatementError): AsyncIterable<string> {
  const select = [{ clause: 'Error', alias: 'Error', operator: 'SELECT', dataType: 'STRING' }];
  const statement = JSON.stringify({ select, where: [], groupBy: [], orderBy: [] });
  return once(csvHead('', 0, statement) + csvLine([ERROR_ROW, message]));
}

function csvHead(searchId: string, limit: number, statement: string): string {
  return csvLine([PROTOCOL, PRODUCT_TEXT]) + csvLine([searchId, String(limit), statement]);
}

async function* once(text: string): AsyncGenerator<string> {
  yield await Promise.resolve(text);
}

/** Rows as they come. What fails meanwhile is reported as a last row: the status has been sent. */
async function* streamed(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  try {
    yield* rest;
  } catch (error) {
    if (!(error instanceof StatementError) && !(error instanceof FhirError)) throw error;
    yield csvLine([ERROR_ROW, error.message]);
  }
}

interface Walk extends Omit<Wanted, 'from'> {
  readonly searchId: string;
  readonly from?: Wanted['from'];
}

/** The rows of one answer, those of a batch at a time. */
async function* rowsOf(
  compiled: CompiledStatement,
  matches: Matches,
  { limit = Infinity, fetchSize, searchId, from }: Walk,
  { store }: Pick<Services, 'store'>,
  reads: ReadNotes | undefined,
): AsyncGenerator<string> {
  const wanted = from?.offset ?? 0;
  const walk = `${searchId} ${fingerprint(compiled)}`;
  let place = positionOf(store, walk, wanted);
  let written = 0;
  const pace = yieldToEventLoop();
  while (place.rows < limit) {
    const most = Math.min(
      BATCH,
      Math.max(wanted - place.offset, 0) + Math.min(fetchSize - written, limit - place.rows),
    );
    const size = compiled.plan.filters.length === 0 ? most : BATCH;
    const { resources, next } = await matches.batch(place.after, size);
    let { offset, rows } = place;
    let lines = '';
    for (const resource of resources) {
      await pace();
      const index = offset++;
      const row = rowOf(resource);
      if (!compiled.fulfills(row)) continue;
      rows++;
      if (index < wanted) continue;
      noteResource(resource, reads);
      lines += csvLine([String(index), ...fieldsOf(compiled, row)]);
      if (++written === fetchSize || rows === limit) break;
    }
    const isWhole = offset === place.offset + resources.length;
    if (isWhole && next !== undefined) place = { offset, after: next, rows };
    if (lines !== '') yield lines;
    if (written === fetchSize) keepPosition(store, walk, place);
    if (written === fetchSize || rows >= limit || next === undefined) return;
  }
}

/** Tells statements apart: a place in the rows of one is none in those of another. */
function fingerprint({ statement }: CompiledStatement): string {
  const { where, fromResourceName } = statement;
  return createHash('sha256')
    .update(JSON.stringify([fromResourceName, where]))
    .digest('base64url');
}

function least(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b);
}
