import { removeFiles, type ExportFile } from '../../core/export-files.js';
import { FhirError } from '../../fhir/errors.js';
import type { JsonObject } from '../../fhir/resource.js';
import { joinLines, TABLE_TYPES, writeTable } from '../../views/formats.js';
import { RowError } from '../../views/view-error.js';
import type { ChunkContext, ChunkResult } from '../engine/job-kind.js';
import { keyOf, openChunk, toResult, type ExportCheckpoint, type ExportChunk } from './checkpoint.js';
import { exportChunk } from './export-job.js';
import { compileFor, rowOfLine, textOfLine } from './row-lines.js';
import { readLines } from './write-file.js';

/** Rows of one file; a table in JSON is one file. */
const ROWS = 1_000_000;

/**
 * One chunk of an export of views. The resources are walked like those of an export, at one instant, and their rows are lines of files,
 * with the ids of the resources, so that each is there once. Then each table is written in its form.
 */
export async function viewExportChunk(context: ChunkContext): Promise<ChunkResult> {
  const chunk = openChunk(context);
  const { at } = chunk;
  switch (at.phase) {
    case 'settle':
    case 'walk':
    case 'late':
      return exportChunk(context);
    case 'tables':
      return toResult(await addTable(chunk));
    case 'end':
      return finish(chunk);
    default:
      return toResult({ ...at, phase: 'tables', part: 0, block: 0 });
  }
}

/** Writes the next file of a table, and moves the checkpoint behind its rows. */
async function addTable(chunk: ExportChunk): Promise<ExportCheckpoint> {
  const { at, input, job, services } = chunk;
  const part = input.parts[at.part];
  if (part?.view === undefined) return { ...at, phase: 'end' };
  const { view } = part;
  const lines = at.files.filter((file) => file.part === at.part && file.table === undefined);
  const left = lines.reduce((sum, { count }) => sum + count, 0) - at.block;
  const count = view.format === 'json' ? left : Math.min(left, ROWS);
  const number = at.files.filter(({ table }) => table?.output === view.name).length;
  const name = `${job.run}-table-${at.part}-${number}`;
  const compiled = compileFor(view, input.transactionTime, services);
  const read = <T>(each: (line: string) => T): AsyncGenerator<readonly T[]> =>
    readRows(lines, at.block, count, each, chunk);
  const pieces = toBytes(
    view.format === 'parquet'
      ? writeTable(compiled, read(rowOfLine), view.format, view.hasHeader)
      : joinLines(compiled.columns, read(textOfLine), view.format, view.hasHeader),
  );
  await services.store.blobs.put(keyOf(job, name), asFailure(pieces), Infinity);
  const suffix = number === 0 ? '' : `-${number + 1}`;
  const table = {
    output: view.name,
    contentType: TABLE_TYPES[view.format],
    fileName: `${view.name}${suffix}.${view.format}`,
  };
  const files = [...at.files, { name, type: part.type, count, table }];
  return count === left ? { ...at, files, part: at.part + 1, block: 0 } : { ...at, files, block: at.block + count };
}

/** Rows of the files of a part, from one on. */
async function* readRows<T>(
  files: readonly ExportFile[],
  from: number,
  count: number,
  read: (line: string) => T,
  { job, services, signal, breathe }: ExportChunk,
): AsyncGenerator<readonly T[]> {
  let [skipped, left] = [from, count];
  for (const file of files) {
    if (left === 0) return;
    if (skipped >= file.count) {
      skipped -= file.count;
      continue;
    }
    for await (const lines of readLines(services.store.blobs, keyOf(job, file.name))) {
      signal.throwIfAborted();
      const rows: T[] = [];
      for (const line of lines) {
        if (skipped > 0) {
          skipped--;
          continue;
        }
        if (left === 0) break;
        rows.push(read(line));
        left--;
        await breathe();
      }
      yield rows;
    }
  }
}

async function* toBytes(pieces: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    if (bytes.length > 0) yield bytes;
  }
}

async function* asFailure(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* pieces;
  } catch (error) {
    if (error instanceof RowError) throw new FhirError('view-invalid', error.message);
    throw error;
  }
}

/** Removes the lines that tables were made of, and what chunks left that did not end. */
async function finish({ at, job, services, now }: ExportChunk): Promise<ChunkResult> {
  const files = at.files.filter(({ table }) => table !== undefined);
  await removeFiles(job, files, services.store.blobs);
  return { result: { files: files as unknown as JsonObject[], ended: now() } };
}
