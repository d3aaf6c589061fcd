import { baseKey } from '../../path/own-base.js';
import type { FindPage, StoredVersion } from '../../store/store.js';
import { keyOf, nextName, type ExportCheckpoint, type ExportChunk } from './checkpoint.js';
import { Selection } from './selection.js';
import { writeFile, type Lines } from './write-file.js';

/** Greatest size of a file: resources, and characters. One file is one chunk. */
const FILE = { resources: 50_000, text: 64 * 1024 * 1024 };

/** Greatest size of a page: resources, and characters that it should have. */
const PAGE = { resources: 500, text: 1024 * 1024 };

/** The same while requests are in progress. */
const BUSY_PAGE = { resources: 50, text: 64 * 1024 };

/** Versions that a page of the history of one resource has. */
const VERSIONS = 100;

/** Writes the next file of the walk through the current versions, and moves the checkpoint behind it. */
export async function walkOn(chunk: ExportChunk): Promise<ExportCheckpoint> {
  const { at, input, services, job } = chunk;
  const part = input.parts[at.part];
  if (part === undefined) return { ...at, phase: 'late', walked: at.files.length };
  const walk = new Walk(chunk, new Selection(part, input, services));
  const name = nextName(job, at);
  const count = await writeFile(services.store.blobs, keyOf(job, name), walk.pieces());
  const files = count === 0 ? at.files : [...at.files, { name, type: part.type, count }];
  return { ...walk.place(), files, done: at.done + count };
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

  async *pieces(): AsyncGenerator<Lines> {
    const { signal, breathe, isBusy, at, report } = this.chunk;
    let count = 0;
    let text = 0;
    let next: Promise<FindPage> | undefined;
    while (!this.isOver && count < FILE.resources && text < FILE.text) {
      signal.throwIfAborted();
      const page = await (next ?? this.ask());
      const block = this.block;
      this.size = nextSize(page, isBusy() ? BUSY_PAGE : PAGE);
      this.advance(page);
      // Asked for ahead, so that the store works while the page is written, unless requests want the store.
      next = this.isOver || isBusy() ? undefined : this.ask();
      next?.catch(() => {});
      const lines: string[] = [];
      for (const version of page.versions) {
        const plain = this.plainLine(version);
        if (plain !== undefined) {
          lines.push(plain);
          text += plain.length;
          continue;
        }
        for (const line of await this.linesOf(version, block)) {
          lines.push(line);
          text += line.length;
        }
        await breathe();
      }
      count += lines.length;
      yield { lines };
      report({ done: at.done + count, unit: 'resources', ...(at.total !== undefined && { total: at.total }) });
      await breathe();
    }
  }

  private ask(): Promise<FindPage> {
    const { chunk, selection, block, after, size } = this;
    const { input, services, signal } = chunk;
    const query = {
      type: selection.part.type,
      where: selection.where(block),
      sort: [],
      count: size,
      total: 'none',
    } as const;
    const base = input.base === '' ? {} : { base: baseKey(input.base) };
    return services.store.find({ ...query, ...base, ...(after !== undefined && { after }) }, signal);
  }

  private advance({ next }: FindPage): void {
    this.after = next;
    if (next !== undefined) return;
    if (++this.block >= this.selection.blocks) this.isOver = true;
  }

  /** The line of a version that needs no work; undefined: it may need some. */
  private plainLine({ json, lastUpdated }: StoredVersion): string | undefined {
    const { selection, chunk } = this;
    if (!selection.isPlain || json === undefined || lastUpdated > chunk.input.transactionTime) return undefined;
    return json.includes('\n') ? undefined : json;
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
  if (!input.isHistory || version.version === 1) return [await selection.line(version)];
  const { type, id } = version;
  const lines: string[] = [];
  for (let after: string | undefined; ;) {
    const query = { type, id, count: VERSIONS, ...(after !== undefined && { after }) };
    const page = await services.store.history(query, signal);
    for (const each of page.versions) {
      const { json, lastUpdated } = each;
      if (json === undefined || lastUpdated > input.transactionTime || !selection.isInTime(lastUpdated)) continue;
      lines.push(await selection.line(each));
    }
    if (page.next === undefined) return lines;
    after = page.next;
  }
}

/** Page size at which the next page has about as many characters as it should, if its resources are as large as these. */
function nextSize({ versions }: FindPage, most: typeof PAGE): number {
  const text = versions.reduce((sum, { json = '' }) => sum + json.length, 0);
  const each = Math.max(1, text / Math.max(1, versions.length));
  return Math.max(1, Math.min(most.resources, Math.floor(most.text / each)));
}
