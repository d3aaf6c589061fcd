import type { ExportFile } from '../../core/job-files/read-job-file.js';
import { referredFrom } from '../../path/referred-from.js';
import type { StoredVersion } from '../../store/store.js';
import { keyOf, lastPhase, nextName, type ExportCheckpoint, type ExportChunk } from './checkpoint.js';
import { Selection } from './selection.js';
import { linesUntil } from './walk.js';
import { readLines, writeFile, type Lines } from './write-file.js';

/** Adds what the resources in the files refer to, of the types that the export has besides, as it was at the transaction time. */
export async function addReferred(chunk: ExportChunk): Promise<ExportCheckpoint> {
  const { at, input, job, services } = chunk;
  const { referred = [], patients: _patients, ...whole } = input;
  let { files, done } = at;
  const ids = referred.length === 0 ? undefined : await readIds(chunk);
  for (const part of referred) {
    const name = nextName(job, { ...at, files });
    // What is referred to is in no patient's compartment.
    const selection = new Selection(part, whole, services);
    const lines = pieces(part.type, ids?.get(part.type) ?? new Set(), chunk, selection);
    const count = await writeFile(services.store.blobs, keyOf(job, name), lines);
    if (count > 0) files = [...files, { name, type: part.type, count } satisfies ExportFile];
    done += count;
  }
  return { ...at, files, done, phase: input.since === undefined ? lastPhase(input) : 'deleted' };
}

/** Ids of the resources that the files refer to, by type. */
async function readIds({ at, input, job, services, signal, breathe }: ExportChunk): Promise<Map<string, Set<string>>> {
  const ids = new Map(input.referred?.map(({ type }) => [type, new Set<string>()]));
  for (const { name } of at.files) {
    for await (const lines of readLines(services.store.blobs, keyOf(job, name))) {
      signal.throwIfAborted();
      for (const { type, id } of referredFrom(lines, services.own, (each) => ids.has(each)).values())
        ids.get(type)?.add(id);
      await breathe();
    }
  }
  return ids;
}

async function* pieces(
  type: string,
  ids: ReadonlySet<string>,
  chunk: ExportChunk,
  selection: Selection,
): AsyncGenerator<Lines> {
  for (const id of ids) {
    chunk.signal.throwIfAborted();
    const version = await versionThen(type, id, chunk);
    if (version?.json === undefined || !(await selection.takesPast(version, chunk.signal))) continue;
    const lines = await linesUntil(version, chunk, selection);
    yield { lines, count: lines.length };
    await chunk.breathe();
  }
}

/** The version that was current at the transaction time. */
async function versionThen(
  type: string,
  id: string,
  { input, services }: ExportChunk,
): Promise<StoredVersion | undefined> {
  const { store } = services;
  let version = await store.read(type, id);
  while (version !== undefined && version.lastUpdated > input.transactionTime) {
    version = version.version === 1 ? undefined : await store.readVersion(type, id, version.version - 1);
  }
  return version;
}
