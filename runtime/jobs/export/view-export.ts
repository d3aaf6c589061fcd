import { removeFiles, type ExportFile, type ExportTable } from '../../core/job-files/read-job-file.js';
import { FhirError } from '../../fhir/errors.js';
import type { JsonObject } from '../../fhir/resource.js';
import type { ViewRow } from '../../views/compile-view.js';
import { joinLines, TABLE_TYPES, writeTable } from '../../views/formats.js';
import { RowError } from '../../views/view-error.js';
import type { ChunkContext, ChunkResult } from '../engine/job-kind.js';
import { keyOf, openChunk, toResult, type ExportCheckpoint, type ExportChunk } from './checkpoint.js';
import { exportChunk } from './export-job.js';
import type { ExportQuery, ExportView } from './export-input.js';
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
  const query = input.queries?.[at.part - input.parts.length];
  if (query !== undefined) return addQuery(query, chunk);
  const part = input.parts[at.part];
  if (part?.view === undefined) return { ...at, phase: 'end' };
  const { view } = part;
  if (view.isBelow === true) return { ...at, part: at.part + 1, block: 0 };
  const lines = linesOf(at.part, at);
  const left = countOf(lines) - at.block;
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
  const files = [...at.files, { name, type: part.type, count, table: describeTable(view, number) }];
  return count === left ? { ...at, files, part: at.part + 1, block: 0 } : { ...at, files, block: at.block + count };
}

/** Writes all files of the table of a query: its statement runs once. */
async function addQuery(query: ExportQuery, chunk: ExportChunk): Promise<ExportCheckpoint> {
  const { at, input, job, services, signal, breathe } = chunk;
  const views = query.parts.map((part) => {
    const { view } = input.parts[part] ?? {};
    if (view === undefined) throw new Error('a query has a part that is no view');
    const lines = linesOf(part, at);
    const { columns } = compileFor(view, input.transactionTime, services);
    return { columns, open: () => readRows(lines, 0, countOf(lines), rowOfLine, chunk) };
  });
  const files: ExportFile[] = [];
  const { runQuery } = await import('../../views/query/run-query.js');
  const tables = asFailure(runQuery(query.query, views, signal));
  for await (const { columns, batches } of tables) {
    const rows = new Rows(batches, breathe);
    do {
      const name = `${job.run}-table-${at.part}-${files.length}`;
      const part = rows.next(query.format === 'json' ? Infinity : ROWS);
      const pieces = toBytes(writeTable({ columns }, part, query.format, query.hasHeader));
      await services.store.blobs.put(keyOf(job, name), asFailure(pieces), Infinity);
      files.push({ name, type: 'Library', count: rows.count, table: describeTable(query, files.length) });
    } while (await rows.hasMore());
  }
  return { ...at, files: [...at.files, ...files], part: at.part + 1, block: 0 };
}

/** Rows that are taken some at a time. */
class Rows {
  /** How many were taken the last time. */
  count = 0;
  private readonly batches: AsyncIterator<readonly ViewRow[]>;
  private rest: readonly ViewRow[] = [];

  constructor(
    batches: AsyncIterable<readonly ViewRow[]>,
    private readonly breathe: ExportChunk['breathe'],
  ) {
    this.batches = batches[Symbol.asyncIterator]();
  }

  async *next(most: number): AsyncGenerator<readonly ViewRow[]> {
    this.count = 0;
    while (this.count < most && (await this.hasMore())) {
      const rows = this.rest.slice(0, most - this.count);
      this.rest = this.rest.slice(rows.length);
      this.count += rows.length;
      yield rows;
      await this.breathe();
    }
  }

  async hasMore(): Promise<boolean> {
    while (this.rest.length === 0) {
      const next = await this.batches.next();
      if (next.done === true) return false;
      this.rest = next.value;
    }
    return true;
  }
}

/** The files that the rows of a part are lines of. */
function linesOf(part: number, { files }: ExportCheckpoint): readonly ExportFile[] {
  return files.filter((file) => file.part === part && file.table === undefined);
}

function countOf(files: readonly ExportFile[]): number {
  return files.reduce((sum, { count }) => sum + count, 0);
}

/** @param number of the file within its table */
function describeTable({ name, format }: Pick<ExportView, 'name' | 'format'>, number: number): ExportTable {
  const suffix = number === 0 ? '' : `-${number + 1}`;
  return { output: name, contentType: TABLE_TYPES[format], fileName: `${name}${suffix}.${format}` };
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
        const pause = breathe();
        if (pause !== undefined) await pause;
      }
      yield rows;
    }
  }
}

/** Bytes of texts that are encoded together, at most. */
const ROOM = 1024 * 1024;

async function* toBytes(pieces: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  // The store copies what it gets before it asks for more.
  const room = new Uint8Array(ROOM);
  for await (const piece of pieces) {
    if (piece.length === 0) continue;
    if (typeof piece !== 'string') yield piece;
    // A character takes three bytes at most.
    else if (piece.length * 3 > ROOM) yield encoder.encode(piece);
    else yield room.subarray(0, encoder.encodeInto(piece, room).written);
  }
}

async function* asFailure<T>(pieces: AsyncIterable<T>): AsyncGenerator<T> {
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
