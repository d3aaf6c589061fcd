import type { FindPage, LinePage, StoredVersion } from '../../store/store.js';
import { keyOf, nextName, type ExportCheckpoint, type ExportChunk } from './checkpoint.js';
import type { ExportFile } from '../../core/job-files/read-job-file.js';
import type { ExportPart } from './export-input.js';
import { Selection } from './selection.js';
import { NEWLINE, writeFile, type Lines } from './write-file.js';

/** Greatest size of a file: resources, and characters or bytes. One file is one chunk. */
const FILE = { resources: 50_000, text: 64 * 1024 * 1024 };

/** Resources of the first file: it is there early. */
const FIRST_FILE = 10_000;

/** Greatest size of a page: resources, and characters or bytes that it should have. */
const PAGE = { resources: 1000, text: 1024 * 1024 };

/** Greatest size of a page that rows of a view are made of, which takes longer: smaller pages become garbage sooner. */
const ROW_PAGE = { resources: 250, text: 256 * 1024 };

/** The same while requests are in progress. */
const BUSY_PAGE = { resources: 50, text: 64 * 1024 };

/** What a page gives to a file. */
interface Piece extends Lines {
  /** Characters or bytes. */
  readonly text: number;
  /** Resources on the page, and what it took to read them: characters or bytes. */
  readonly looked: number;
  readonly read: number;
}

/** Versions that a page of the history of one resource has. */
const VERSIONS = 100;

/** How long types of which nothing is found are passed over in one chunk, in milliseconds. */
const PASSING = 1000;

/** Writes the next file of the walk through the current versions, and moves the checkpoint behind it. */
export async function walkOn(chunk: ExportChunk): Promise<ExportCheckpoint> {
  const { input, services, job } = chunk;
  const begun = performance.now();
  for (let { at } = chunk; ;) {
    const part = input.parts[at.part];
    if (part === undefined) return { ...at, phase: 'late', walked: at.files.length };
    const walk = new Walk({ ...chunk, at }, new Selection(part, input, services));
    const name = nextName(job, at);
    const count = await writeFile(services.store.blobs, keyOf(job, name), walk.pieces());
    if (count > 0)
      return { ...walk.place(), files: [...at.files, fileOf(part, at.part, name, count)], done: at.done + count };
    at = walk.place();
    if (performance.now() - begun > PASSING) return at;
  }
}

/** A file of a part. Of views several may be of one type, so that it names the part, too. */
export function fileOf({ type, view }: ExportPart, part: number, name: string, count: number): ExportFile {
  return { name, type, count, ...(view !== undefined && { part }) };
}

class Walk {
  private block: number;
  private after: string | undefined;
  private isOver = false;
  private size: number = 100;

  constructor(
    private readonly chunk: ExportChunk,
    private readonly selection: Selection,
  ) {
    this.block = chunk.at.block;
    this.after = chunk.at.after;
  }

  /** The checkpoint after what was read. */
  place(): ExportCheckpoint {
    const { after: _after, ...at } = this.chunk.at;
    if (this.isOver) return { ...at, part: at.part + 1, block: 0 };
    return { ...at, block: this.block, ...(this.after !== undefined && { after: this.after }) };
  }

  pieces(): AsyncGenerator<Lines> {
    const { isPlain, part } = this.selection;
    if (!isPlain) return this.pages(this.ask, this.toLines);
    return this.pages(this.askLines, part.view === undefined ? this.toPlain : this.toRows);
  }

  /** Page after page until the file is large enough. @param ask for the next one @param toPiece makes it a piece of the file */
  private async *pages<T extends { readonly next?: string }>(
    ask: () => Promise<T>,
    toPiece: (page: T, block: number) => Promise<Piece>,
  ): AsyncGenerator<Lines> {
    const { signal, breathe, isBusy, at, report } = this.chunk;
    const most = at.files.length === 0 ? FIRST_FILE : FILE.resources;
    let count = 0;
    let text = 0;
    let next: Promise<T> | undefined;
    while (!this.isOver && count < most && text < FILE.text) {
      signal.throwIfAborted();
      const page = await (next ?? ask());
      const { block } = this;
      this.advance(page);
      // Asked for ahead, so that the store works while the page is written, unless requests want the store.
      next = this.isOver || isBusy() ? undefined : ask();
      next?.catch(() => {});
      const piece = await toPiece(page, block);
      this.size = nextSize(piece, isBusy() ? BUSY_PAGE : this.selection.part.view === undefined ? PAGE : ROW_PAGE);
      count += piece.count;
      text += piece.text;
      yield piece;
      report({ done: at.done + count, unit: 'resources', ...(at.total !== undefined && { total: at.total }) });
      if (piece.looked > 0) await breathe();
    }
  }

  private get query() {
    const { selection, block, after, size } = this;
    return {
      ...{ type: selection.part.type, where: selection.where(block), sort: [], count: size, total: 'none' as const },
      ...(after !== undefined && { after }),
    };
  }

  private readonly ask = (): Promise<FindPage> => {
    const { services, signal } = this.chunk;
    return services.store.find(this.query, signal);
  };

  /** Texts that are written as they are stored need not be strings here. What was changed since comes later, as it was. */
  private readonly askLines = (): Promise<LinePage> => {
    const { services, signal, input } = this.chunk;
    return services.store.findLines(this.query, input.transactionTime, signal);
  };

  private readonly toPlain = ({ lines, count }: LinePage): Promise<Piece> =>
    Promise.resolve({ lines, count, text: lines.length, looked: count, read: lines.length });

  /** The rows of a view. What a page holds for long is bytes alone: its text goes when its lines are made. */
  private readonly toRows = async ({ lines: bytes, count: looked }: LinePage): Promise<Piece> => {
    const { rowLines } = this.selection;
    const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const lines: string[] = [];
    let text = 0;
    for (let from = 0, end: number; (end = all.indexOf(NEWLINE, from)) >= 0; from = end + 1) {
      const made = rowLines?.(all.toString('utf8', from, end)) ?? [];
      for (const line of made instanceof Promise ? await made : made) {
        lines.push(line);
        text += line.length;
      }
      // One await for each row would cost more than the row.
      const pause = this.chunk.breathe();
      if (pause !== undefined) await pause;
    }
    return { lines, count: lines.length, text, looked, read: bytes.length };
  };

  private readonly toLines = async ({ versions }: FindPage, block: number): Promise<Piece> => {
    const lines: string[] = [];
    let [text, read] = [0, 0];
    for (const version of versions) {
      read += version.json?.length ?? 0;
      for (const line of await this.linesOf(version, block)) {
        lines.push(line);
        text += line.length;
      }
      await this.chunk.breathe();
    }
    return { lines, count: lines.length, text, looked: versions.length, read };
  };

  private advance({ next }: { readonly next?: string }): void {
    this.after = next;
    if (next !== undefined) return;
    if (++this.block >= this.selection.blocks) this.isOver = true;
  }

  private async linesOf(version: StoredVersion, block: number): Promise<readonly string[]> {
    const { input } = this.chunk;
    // What was changed since comes later, as it was.
    if (version.lastUpdated > input.transactionTime) return [];
    if (!(await this.selection.takes(version, block))) return [];
    return linesUntil(version, this.chunk, this.selection);
  }
}

/** The lines of a resource whose version this was at the transaction time: of it, or of all versions until then. */
export async function linesUntil(
  version: StoredVersion,
  { input, services, signal }: ExportChunk,
  selection: Selection,
): Promise<readonly string[]> {
  if (!input.isHistory || version.version === 1) return selection.lines(version);
  const { type, id } = version;
  const lines: string[] = [];
  for (let after: string | undefined; ;) {
    const query = { type, id, count: VERSIONS, ...(after !== undefined && { after }) };
    const page = await services.store.history(query, signal);
    for (const each of page.versions) {
      const { json, lastUpdated } = each;
      if (json === undefined || lastUpdated > input.transactionTime || !selection.isInTime(lastUpdated)) continue;
      for (const line of await selection.lines(each)) lines.push(line);
    }
    if (page.next === undefined) return lines;
    after = page.next;
  }
}

/** Page size at which the next page has about as much text as it should, if its resources are as large as these. */
function nextSize({ read, looked }: Piece, most: typeof PAGE): number {
  const each = Math.max(1, read / Math.max(1, looked));
  return Math.max(1, Math.min(most.resources, Math.floor(most.text / each)));
}
