import type { Call, Reply } from '../../core/call.js';
import type { ReadNotes } from '../../core/read-notes.js';
import { withinBudget } from '../../search-execution/execute/search-budget.js';
import type { Services } from '../../core/services.js';
import { Decimal } from '../../fhir/decimal.js';
import { FhirError } from '../../fhir/errors.js';
import { invalidParameter } from '../../fhir/catalog/invalid-parameter.js';
import type { JsonObject, Resource } from '../../fhir/resource.js';
import { presentMoment } from '../../jobs/export/versions-at.js';
import type { Column } from '../column-kind.js';
import type { ViewContext, ViewRow } from '../compile-view.js';
import { rowParameter, TABLE_TYPES, writeTable } from '../formats.js';
import type { QueryResult } from '../query/run-query.js';
import { show } from '../../validate/primitive-forms.js';
import { RowError } from '../view-error.js';
import { valueOf, type Arguments } from '../../operations/common/arguments.js';
import { Faults } from '../../operations/common/faults.js';
import { chooseFormat } from './choose-format.js';
import { partOf, passes, readFilters, type ViewFilters } from './filters.js';
import { readNamedArguments } from './named-arguments.js';
import { Artifacts, isQuery, planQuery } from './query-plan.js';
import { firstOf, LONGEST, rowsOf, storedAt } from './rows.js';
import { compileSubject, FAULTS, inlineData, readSubject, withoutResources, type Subject } from './subject.js';

/** Bytes or characters that are held back, so that early errors have a status of their own. */
const HELD = 1024 * 1024;

/** Greatest size of a table that is a resource, in characters. */
const MOST_HELD = 32 * 1024 * 1024;

/** Parameters that hold resources, which are judged where they are used. */
const RESOURCES = ['subjectResource', 'resource', 'context'];

/** What a run is made of. */
interface Run {
  readonly subject: Subject;
  readonly found: Arguments;
  readonly filters: ViewFilters;
  readonly resources: ReadonlyMap<string, readonly Resource[]>;
  readonly limit: number;
  readonly form: ViewContext['form'];
  readonly now: Date;
  readonly reads: ReadNotes | undefined;
  readonly call: Call;
  readonly services: Services;
}

/**
 * `$sql-run`: the table of a view or a query of SQL on FHIR, of what a search with the token finds at one instant, or, of a view, of resources
 * that come with the request. All faults of a request are in one answer. A failure after the first megabyte breaks the answer off.
 * definitions/operations/sql-run.json
 *
 * @throws FhirError `parameter-invalid`, `view-invalid`, `not-found`, `scope-missing`, `not-acceptable`, `too-costly`
 */
export async function sqlRun(call: Call, services: Services): Promise<Reply> {
  const { rest, resources } = withoutResources(call, RESOURCES);
  const faults = new Faults(FAULTS);
  const found = readNamedArguments(rest, services, call.body === undefined ? IN_URL : [], faults);
  const format = call.params.get('_format') ?? valueOf(found, '_format');
  const chosen = faults.attempt(() => chooseFormat(format === undefined || format === '' ? undefined : String(format), call.accept)); // prettier-ignore
  const limit = faults.attempt(() => limitOf(valueOf(found, '_limit'))) ?? 0;
  const subject = await faults.collect(() => readSubject(found, resources.get('subjectResource') ?? [], '', rest, services)); // prettier-ignore
  const filters = (await faults.collect(() => readFilters(found, rest, services))) ?? {};
  const now = new Date();
  const reads = services.audit.notes?.();
  const open = subject !== undefined && isQuery(subject) ? openQuery : openView;
  const form = chosen?.format === 'parquet' || chosen?.format === 'fhir' ? chosen.format : undefined;
  const run = subject && { subject, found, filters, resources, limit, form, now, reads, services, call: rest };
  const prepared = run && (await open(run, faults));
  faults.check();
  if (prepared === undefined || subject === undefined || chosen === undefined)
    throw new Error('a run has neither faults nor a table');
  // The rows of a query come when all of its tables are read.
  const own = open === openQuery ? undefined : services.limits.queryTime;
  return withinBudget(own, call.signal, async (signal) => {
    const tables = prepared(signal);
    const noted = reads === undefined ? {} : { reads };
    if (chosen.format === 'fhir')
      return { status: 200, resource: await parameters(tables, subject.parameter), ...noted };
    const pieces = asAnswer(write(tables, chosen.format, valueOf(found, 'header') !== false), subject.parameter);
    if (chosen.isWrapped) return { status: 200, resource: await wrapped(pieces, TABLE_TYPES[chosen.format]), ...noted };
    const content = await heldBack(pieces);
    return { status: 200, body: { contentType: TABLE_TYPES[chosen.format], content }, ...noted };
  });
}

/** The table of a run, once. @param signal ends the search for its first rows */
type Open = (signal: AbortSignal | undefined) => AsyncGenerator<QueryResult>;

/** @returns undefined: it has faults */
async function openView(run: Run, faults: Faults): Promise<Open | undefined> {
  const { subject, found, filters, resources, limit, form, now, reads, call, services } = run;
  for (const name of ['parameters', 'context']) {
    if (valueOf(found, name) !== undefined || resources.has(name))
      faults.take(invalidParameter(name, 'is for queries; a view has none', { issue: 'invalid', expression: name }));
  }
  const view = faults.attempt(() => compileSubject(subject, services, { now, ...(form !== undefined && { form }) }));
  if (view === undefined) return undefined;
  const inline = resources.get('resource');
  // Whether the token may is not hidden behind what else is wrong.
  if (!faults.areNone && inline === undefined) await partOf(view, {}, call, services);
  return async function* (within) {
    const signal = within ?? call.signal;
    const source =
      inline === undefined
        ? storedAt(
            await presentMoment(view.resource, services, signal),
            await partOf(view, filters, { ...call, ...(signal !== undefined && { signal }) }, services),
            filters.since,
            call,
            services,
          )
        : given(inline, filters, services);
    const end = performance.now() + LONGEST;
    yield { columns: view.columns, batches: rowsOf(view, source, { limit, end, reads, signal: call.signal }) };
  };
}

/** @returns undefined: it has faults */
async function openQuery(run: Run, faults: Faults): Promise<Open | undefined> {
  const { subject, found, filters, resources, limit, now, reads, call, services } = run;
  if (resources.has('resource')) faults.take(invalidParameter('resource', 'is for views; a query reads what is stored', { issue: 'invalid', expression: 'resource' })); // prettier-ignore
  const artifacts = faults.attempt(() => new Artifacts(resources.get('context') ?? [], call, services));
  if (artifacts === undefined) return undefined;
  const parameters = valueOf(found, 'parameters');
  const plan = await faults.collect(() => planQuery(subject, parameters, '', artifacts, filters, now, call, services));
  faults.attempt(() => artifacts.finish(plan !== undefined));
  if (plan === undefined) return undefined;
  const { runQuery } = await import('../query/run-query.js');
  return async function* () {
    const { signal, stop } = withLongest(call.signal);
    const [first] = plan.views;
    const moment = await presentMoment(first?.compiled.resource ?? 'Library', services, signal);
    const end = performance.now() + LONGEST;
    const views = plan.views.map(({ compiled, part }) => ({
      columns: compiled.columns,
      open: () => rowsOf(compiled, storedAt(moment, part, filters.since, call, services), { limit: Infinity, end, reads, signal }), // prettier-ignore
    }));
    try {
      for await (const { columns, batches } of runQuery(plan.query, views, signal))
        yield { columns, batches: firstOf(batches, limit) };
    } catch (error) {
      if (!(error instanceof FhirError) || error.code !== 'view-invalid') throw error;
      throw error.map((issue) => ({ expression: subject.parameter, ...issue }));
    } finally {
      stop();
    }
  };
}

/** A signal that also ends a run which takes too long, as with a client that does not read on: others wait for its process. */
function withLongest(signal: AbortSignal | undefined): { readonly signal: AbortSignal; readonly stop: () => void } {
  const own = new AbortController();
  const text = `The query takes more than ${LONGEST / 1000} s with the time in which its rows are read; export it by $sql-export`;
  const timer = setTimeout(() => own.abort(new FhirError('too-costly', text)), LONGEST);
  timer.unref();
  const both = signal === undefined ? own.signal : AbortSignal.any([signal, own.signal]);
  return { signal: both, stop: () => clearTimeout(timer) };
}

async function* write(
  tables: AsyncIterable<QueryResult>,
  format: Parameters<typeof writeTable>[2],
  hasHeader: boolean,
): AsyncGenerator<string | Uint8Array> {
  for await (const { columns, batches } of tables) yield* writeTable({ columns }, batches, format, hasHeader);
}

/** In a URL references are texts. */
const IN_URL = [
  { name: 'subjectReference', use: 'in', min: 0, max: 1, type: 'string' },
  { name: 'patient', use: 'in', min: 0, max: '*', type: 'string' },
  { name: 'group', use: 'in', min: 0, max: '*', type: 'string' },
] as const;

function limitOf(value: unknown): number {
  if (value === undefined) return Infinity;
  if (Number(value) >= 0) return Number(value);
  throw invalidParameter('_limit', `is a number from 0, not ${Number(value)}`, { expression: '_limit' });
}

async function* given(
  resources: readonly Resource[],
  filters: ViewFilters,
  services: Services,
): AsyncGenerator<readonly Resource[]> {
  for (const each of inlineData(resources)) if (passes(each, filters, services)) yield [each];
}

/** What data do not allow, as an answer. */
async function* asAnswer<T>(pieces: AsyncIterable<T>, parameter: string): AsyncGenerator<T> {
  try {
    yield* pieces;
  } catch (error) {
    throw asFault(error, parameter);
  }
}

/** The answer to what data do not allow. A value is of what the client may read; lists and objects are not shown. */
function asFault(error: unknown, expression: string): unknown {
  if (!(error instanceof RowError)) return error;
  const { message, value } = error;
  const isShown = value !== undefined && (typeof value !== 'object' || value instanceof Decimal);
  const shown = isShown ? `; it is ${show(value)}` : '';
  return new FhirError('view-invalid', `${message}${shown}`, { expression });
}

/** The first pieces at once, the others as they come. */
async function heldBack(pieces: AsyncGenerator<string | Uint8Array>): Promise<AsyncIterable<string | Uint8Array>> {
  const first: (string | Uint8Array)[] = [];
  for (let size = 0; size < HELD;) {
    const next = await pieces.next();
    if (next.done === true) break;
    first.push(next.value);
    size += next.value.length;
  }
  const all = (async function* () {
    yield* first;
    yield* pieces;
  })();
  const end = async (): Promise<IteratorReturnResult<undefined>> => {
    await all.return(undefined);
    // A generator that was never asked for anything does not run what it has to do at its end.
    await pieces.return(undefined);
    return { done: true, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next: () => all.next(), return: end }) };
}

async function parameters(tables: AsyncIterable<QueryResult>, subject: string): Promise<JsonObject> {
  const parameter: JsonObject[] = [];
  let size = 0;
  for await (const { columns, batches } of asAnswer(tables, subject)) {
    for await (const rows of asAnswer(batches, subject)) {
      for (const row of rows) {
        parameter.push(asParameter(row, columns, subject));
        size += row.length;
      }
      if (size > MOST_HELD / 64) throw tooLarge();
    }
  }
  return { resourceType: 'Parameters', ...(parameter.length > 0 && { parameter }) };
}

function asParameter(row: ViewRow, columns: readonly Column[], subject: string): JsonObject {
  try {
    return rowParameter(row, columns);
  } catch (error) {
    throw asFault(error, subject);
  }
}

async function wrapped(pieces: AsyncIterable<string | Uint8Array>, contentType: string): Promise<JsonObject> {
  const found: Buffer[] = [];
  let size = 0;
  for await (const piece of pieces) {
    found.push(Buffer.from(piece as string));
    if ((size += piece.length) > MOST_HELD) throw tooLarge();
  }
  return { resourceType: 'Binary', contentType, data: Buffer.concat(found).toString('base64') };
}

function tooLarge(): FhirError {
  return new FhirError('too-costly', 'The table is too large for one resource; ask for ndjson, csv or parquet, or for fewer rows'); // prettier-ignore
}
