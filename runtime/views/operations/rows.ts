import { openBinaries } from '../../core/binary/with-data.js';
import type { Call } from '../../core/call.js';
import { parseStored } from '../../core/parse-stored.js';
import type { ReadNotes } from '../../core/read-notes.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import type { ExportPart } from '../../jobs/export/export-input.js';
import { versionsAt, type StoreMoment } from '../../jobs/export/versions-at.js';
import type { CompiledView, ViewRow } from '../compile-view.js';

/** Rows that are written together, and their characters. */
const WRITTEN = { rows: 1000, characters: 4 * 1024 * 1024 };

/** How long a run may take, in milliseconds. */
export const LONGEST = 60_000;

/** Batches of the stored resources of a part that were current at a moment. */
export async function* storedAt(
  moment: StoreMoment,
  part: ExportPart,
  since: number | undefined,
  { base, signal }: Pick<Call, 'base' | 'signal'>,
  services: Services,
): AsyncGenerator<readonly Resource[]> {
  const input = {
    ...{
      transactionTime: moment.instant,
      request: '',
      base,
      asked: '',
      isHistory: false,
      types: [part.type],
      parts: [part],
    },
    ...(since !== undefined && { since }),
  };
  const withData = part.type === 'Binary' ? openBinaries(services.store.blobs) : undefined;
  const pace = yieldToEventLoop();
  for await (const versions of versionsAt(moment, part, input, services, signal)) {
    const resources: Resource[] = [];
    for (const { json = '' } of versions) {
      await pace();
      const parsed = parseStored(json, services);
      const resource = parsed instanceof Promise ? await parsed : parsed;
      resources.push(withData === undefined ? resource : await withData(resource));
    }
    yield resources;
  }
}

/**
 * The rows of a view, some at a time.
 *
 * @param end when the run is given up, in the time of `performance.now()`
 * @throws FhirError `too-costly`; RowError
 */
export async function* rowsOf(
  view: CompiledView,
  source: AsyncIterable<readonly Resource[]>,
  { limit, end, reads, signal }: { readonly limit: number; readonly end: number; readonly reads: ReadNotes | undefined; readonly signal: AbortSignal | undefined }, // prettier-ignore
): AsyncGenerator<readonly ViewRow[]> {
  const pace = yieldToEventLoop();
  let left = limit;
  if (left === 0) return;
  let batch: ViewRow[] = [];
  let size = 0;
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
        size += sizeOf(row);
        if (batch.push(row) < WRITTEN.rows && size < WRITTEN.characters) continue;
        yield batch;
        [batch, size] = [[], 0];
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

/** Characters of the texts of a row, about. */
function sizeOf(row: ViewRow): number {
  let size = 0;
  for (const cell of row) {
    if (typeof cell === 'string') size += cell.length;
    else if (typeof cell === 'object' && cell !== null) size += JSON.stringify(cell).length;
  }
  return size;
}

/** The first rows of batches. */
export async function* firstOf(
  batches: AsyncIterable<readonly ViewRow[]>,
  limit: number,
): AsyncGenerator<readonly ViewRow[]> {
  let left = limit;
  if (left === 0) return;
  for await (const rows of batches) {
    yield rows.length > left ? rows.slice(0, left) : rows;
    left -= rows.length;
    if (left <= 0) return;
  }
}
