import type { Call, Reply } from '../../core/call.js';
import { openBinaries } from '../../core/binary/with-data.js';
import { parseStored } from '../../core/parse-stored.js';
import type { ReadNotes } from '../../core/read-notes.js';
import { withinBudget } from '../../core/search/execute/search-budget.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { invalidParameter } from '../../fhir/invalid-parameter.js';
import type { JsonObject, Resource } from '../../fhir/resource.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import { versionsAt } from '../../jobs/export/versions-at.js';
import { instantOf } from '../../jobs/export/export-instant.js';
import type { CompiledView, ViewRow } from '../../views/compile-view.js';
import { rowParameter, TABLE_TYPES, writeTable } from '../../views/formats.js';
import { RowError } from '../../views/view-error.js';
import { readArguments, valueOf } from '../arguments.js';
import { chooseFormat } from './choose-format.js';
import { partOf, passes, readFilters, type ViewFilters } from './filters.js';
import { compileSubject, inlineData, readSubject, withoutResources } from './subject.js';

/** Bytes or characters that are held back, so that early errors have a status of their own. */
const HELD = 1024 * 1024;

/** Greatest size of a table that is a resource, in characters. */
const MOST_HELD = 32 * 1024 * 1024;

/** Rows that are written together. */
const WRITTEN = 1000;

/** How long a run may take, in milliseconds. */
const LONGEST = 60_000;

/**
 * `$sql-run`: the table of a view of SQL on FHIR, of what a search with the token finds at one instant, or of resources that come with
 * the request. A failure after the first megabyte breaks the answer off. definitions/operations/sql-run.json
 *
 * @throws FhirError `parameter-invalid`, `view-invalid`, `not-found`, `scope-missing`, `not-acceptable`, `too-costly`
 */
export async function sqlRun(call: Call, services: Services): Promise<Reply> {
  const { rest, resources } = withoutResources(call, ['subjectResource', 'resource']);
  const found = readArguments(rest, services, call.body === undefined ? IN_URL : []);
  const inline = resources.get('resource');
  const format = call.params.get('_format') ?? valueOf(found, '_format');
  const chosen = chooseFormat(format === undefined || format === '' ? undefined : String(format), call.accept);
  const limit = limitOf(valueOf(found, '_limit'));
  const now = new Date();
  const subject = await readSubject(found, resources.get('subjectResource') ?? [], '', rest, services);
  const view = compileSubject(subject, services, now);
  const filters = await readFilters(found, rest, services);
  const reads = services.audit.notes?.();
  const own = services.limits.queryTime;
  return withinBudget(own, call.signal, async (signal) => {
    const source =
      inline === undefined ? await stored(view, filters, rest, services, signal) : given(inline, filters, services);
    const batches = rowsOf(view, source, limit, reads, call.signal);
    const noted = reads === undefined ? {} : { reads };
    if (chosen.format === 'fhir') return { status: 200, resource: await parameters(view, batches), ...noted };
    const pieces = asAnswer(writeTable(view, batches, chosen.format, valueOf(found, 'header') !== false));
    if (chosen.isWrapped) return { status: 200, resource: await wrapped(pieces, TABLE_TYPES[chosen.format]), ...noted };
    const content = await heldBack(pieces);
    return { status: 200, body: { contentType: TABLE_TYPES[chosen.format], content }, ...noted };
  });
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

/** Batches of the stored resources that a search with the token finds. */
async function stored(
  view: CompiledView,
  filters: ViewFilters,
  call: Call,
  services: Services,
  signal: AbortSignal | undefined,
): Promise<AsyncIterable<readonly Resource[]>> {
  const part = await partOf(view.resource, filters, { ...call, ...(signal !== undefined && { signal }) }, services);
  const { since } = filters;
  const input = {
    ...{ transactionTime: await instantOf(services.store), request: '', base: call.base, asked: '', isHistory: false },
    ...{ types: [view.resource], parts: [part], ...(since !== undefined && { since }) },
  };
  const withData = view.resource === 'Binary' ? openBinaries(services.store.blobs) : undefined;
  const pages = versionsAt(part, input, services, call.signal);
  return (async function* () {
    const pace = yieldToEventLoop();
    for await (const versions of pages) {
      const resources: Resource[] = [];
      for (const { json = '' } of versions) {
        await pace();
        const parsed = parseStored(json, services);
        const resource = parsed instanceof Promise ? await parsed : parsed;
        resources.push(withData === undefined ? resource : await withData(resource));
      }
      yield resources;
    }
  })();
}

async function* given(
  resources: readonly Resource[],
  filters: ViewFilters,
  services: Services,
): AsyncGenerator<readonly Resource[]> {
  for (const each of inlineData(resources)) if (passes(each, filters, services)) yield [each];
}

async function* rowsOf(
  view: CompiledView,
  source: AsyncIterable<readonly Resource[]>,
  limit: number,
  reads: ReadNotes | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly ViewRow[]> {
  const end = performance.now() + LONGEST;
  const pace = yieldToEventLoop();
  let left = limit;
  if (left === 0) return;
  let batch: ViewRow[] = [];
  for await (const resources of source) {
    for (const resource of resources) {
      await pace();
      signal?.throwIfAborted();
      if (performance.now() > end) throw new FhirError('too-costly', `The view takes more than ${LONGEST / 1000} s; narrow it by _since, patient or where, or export it by $sql-export`); // prettier-ignore
      const rows = view.rowsOf(resource, left);
      if (rows.length === 0) continue;
      const { resourceType, id } = resource;
      reads?.about(resourceType, typeof id === 'string' ? id : undefined, resource);
      for (const row of rows) {
        if (batch.push(row) < WRITTEN) continue;
        yield batch;
        batch = [];
        await pace();
      }
      left -= rows.length;
      if (left > 0) continue;
      yield batch;
      return;
    }
  }
  yield batch;
}

/** What data do not allow, as an answer. */
async function* asAnswer<T>(pieces: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* pieces;
  } catch (error) {
    if (!(error instanceof RowError)) throw error;
    throw new FhirError('view-invalid', error.message);
  }
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
  return (async function* () {
    yield* first;
    yield* pieces;
  })();
}

async function parameters(view: CompiledView, batches: AsyncIterable<readonly ViewRow[]>): Promise<JsonObject> {
  const parameter: JsonObject[] = [];
  let size = 0;
  for await (const rows of asAnswer(batches)) {
    for (const row of rows) {
      parameter.push(asParameter(row, view));
      size += row.length;
    }
    if (size > MOST_HELD / 64) throw tooLarge();
  }
  return { resourceType: 'Parameters', ...(parameter.length > 0 && { parameter }) };
}

function asParameter(row: ViewRow, { columns }: CompiledView): JsonObject {
  try {
    return rowParameter(row, columns);
  } catch (error) {
    if (error instanceof RowError) throw new FhirError('view-invalid', error.message);
    throw error;
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
