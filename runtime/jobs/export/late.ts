import type { StoredVersion } from '../../store/store.js';
import { keyOf, nextName, type ExportCheckpoint, type ExportChunk } from './checkpoint.js';
import { idOfLine } from './row-lines.js';
import { Selection } from './selection.js';
import { fileOf, linesUntil } from './walk.js';
import { readLines, writeFile, type Lines } from './write-file.js';

/** Changes that one chunk looks at; each costs some bytes of memory. */
const CHANGES = 20_000;

const PAGE = 500;

/** Number of the version that was current at the transaction time, by id. */
type Replaced = Map<string, number>;

/**
 * Adds what the walk missed: versions that were current at the transaction time, and were replaced or deleted before the walk
 * reached them. They are found by the history since then, and compared with the files, which tell what the walk saw.
 */
export async function addLate(chunk: ExportChunk): Promise<ExportCheckpoint> {
  const { at, input, job, services } = chunk;
  const { replaced, next } = await readChanges(chunk);
  let files = at.files;
  let { done } = at;
  for (const [place, part] of input.parts.entries()) {
    const all = replaced.get(part.type);
    if (all === undefined) continue;
    const ids = new Map(all);
    await removeWritten(part.type, place, ids, chunk);
    if (ids.size === 0) continue;
    const name = nextName(job, { ...at, files });
    const selection = new Selection(part, input, services);
    const count = await writeFile(services.store.blobs, keyOf(job, name), pieces(ids, chunk, selection));
    if (count > 0) files = [...files, fileOf(part, place, name, count)];
    done += count;
  }
  const { history: _history, ...rest } = at;
  if (next !== undefined) return { ...rest, files, done, history: next };
  return { ...rest, files, done, phase: 'referred' };
}

/**
 * Reads some of the changes since the transaction time. Of each resource only the first one counts: the version before it is the
 * one that was current then. So no resource is in two chunks.
 */
async function readChanges({ at, input, services, signal, breathe }: ExportChunk) {
  const { store } = services;
  const replaced = new Map<string, Replaced>();
  const query = { types: input.types, since: input.transactionTime + 1, count: PAGE };
  let next = at.history;
  for (let looked = 0; looked < CHANGES;) {
    signal.throwIfAborted();
    const page = await store.history({ ...query, ...(next !== undefined && { after: next }) }, signal);
    for (const { type, id, version } of page.versions) {
      await breathe();
      if (version === 1) continue;
      const before = await store.readVersion(type, id, version - 1);
      if (before?.json === undefined || before.lastUpdated > input.transactionTime) continue;
      const ids = replaced.get(type) ?? new Map<string, number>();
      replaced.set(type, ids.set(id, before.version));
    }
    looked += page.versions.length;
    next = page.next;
    if (next === undefined) break;
  }
  return { replaced, next };
}

const ID = /"id":"([A-Za-z0-9.-]{1,64})"/g;

/** Takes out what the files of the walk hold. */
async function removeWritten(
  type: string,
  part: number,
  ids: Replaced,
  { at, input, job, services, signal, breathe }: ExportChunk,
) {
  const idOf = input.parts[part]?.view === undefined ? idOfResource : idOfLine;
  for (const file of at.files.slice(0, at.walked)) {
    if (file.type !== type || (file.part ?? part) !== part) continue;
    for await (const lines of readLines(services.store.blobs, keyOf(job, file.name))) {
      signal.throwIfAborted();
      for (const line of lines) {
        for (const [, id = ''] of line.matchAll(ID)) {
          // An element within may have the same id.
          if (ids.has(id) && idOf(line) === id) ids.delete(id);
        }
      }
      await breathe();
    }
  }
}

function idOfResource(line: string): unknown {
  return (JSON.parse(line) as { readonly id?: unknown }).id;
}

async function* pieces(ids: Replaced, chunk: ExportChunk, selection: Selection): AsyncGenerator<Lines> {
  const { services, signal, breathe } = chunk;
  const { type } = selection.part;
  for (const [id, number] of ids) {
    signal.throwIfAborted();
    const version: StoredVersion | undefined = await services.store.readVersion(type, id, number);
    if (version?.json === undefined || !(await selection.takesPast(version, signal))) continue;
    const lines = await linesUntil(version, chunk, selection);
    yield { lines, count: lines.length };
    await breathe();
  }
}
