import { createHash } from 'node:crypto';

import type { ExportFile } from '../../core/job-files/read-job-file.js';
import { readStored } from '../../core/read-stored.js';
import { writeJson } from '../../format/write-json.js';
import { keyOf, type ExportCheckpoint, type ExportChunk } from './checkpoint.js';
import { patientsOf } from './compartment.js';
import { patientsNamedIn } from './selection.js';
import { readLines, writeFile, type Lines } from './write-file.js';

/** Characters that are in memory at once, about. */
const ROOM = 32 * 1024 * 1024;

/** Lines of the blocks, by patient. */
type Blocks = Map<string, { readonly own: string[]; readonly others: string[] }>;

/**
 * Makes files of blocks, one for each patient: a header, the Patient, and all that is in its compartment. Each chunk takes one set of
 * the patients, as many sets as it takes for one to fit into memory, and reads the files by type for it. What does not fit all the same
 * goes on in the next file. https://hl7.org/fhir/uv/bulkdata/STU3/export.html#bulk-data-output-file-organization
 *
 * @param room characters that are in memory at once, about
 */
export async function organize(chunk: ExportChunk, room = ROOM): Promise<ExportCheckpoint> {
  const at = chunk.at.sources === undefined ? begin(chunk) : chunk.at;
  const { sources = [], part } = at;
  const sets = await countSets(sources, room, chunk);
  if (part >= sets) return { ...at, phase: 'end' };
  const made: ExportFile[] = [];
  const { blobs } = chunk.services.store;
  for await (const blocks of gather(sources, { part, sets, room }, chunk)) {
    const name = `${chunk.job.run}-by-patient-${part}-${made.length}`;
    const count = await writeFile(blobs, keyOf(chunk.job, name), toLines(blocks));
    const last = made.pop();
    if (last !== undefined) made.push({ ...last, goesOn: true });
    made.push({ name, type: 'Patient', count });
  }
  return { ...at, part: part + 1, files: [...at.files, ...made] };
}

function begin({ at }: ExportChunk): ExportCheckpoint {
  const isOfDeleted = (file: ExportFile): boolean => file.isOfDeleted === true;
  const sources = at.files.filter((file) => !isOfDeleted(file));
  return { ...at, sources, files: at.files.filter(isOfDeleted), part: 0 };
}

async function countSets(
  sources: readonly ExportFile[],
  room: number,
  { job, services }: ExportChunk,
): Promise<number> {
  if (sources.length === 0) return 0;
  const keys = new Set(sources.map(({ name }) => keyOf(job, name)));
  let size = 0;
  for (const blob of await services.store.blobs.list(keyOf(job, ''))) if (keys.has(blob.key)) size += blob.size;
  return Math.max(1, Math.ceil(size / room));
}

/** The blocks of one set of patients, those that fit at a time. */
async function* gather(
  sources: readonly ExportFile[],
  { part, sets, room }: { readonly part: number; readonly sets: number; readonly room: number },
  chunk: ExportChunk,
): AsyncGenerator<Blocks> {
  const { input, job, services, signal, breathe } = chunk;
  const wanted = Array.isArray(input.patients) ? new Set(input.patients as readonly string[]) : undefined;
  const isOfSet = (id: string): boolean => (wanted?.has(id) ?? true) && setOf(id, sets) === part;
  let blocks: Blocks = new Map();
  let size = 0;
  for (const { name, type } of sources) {
    for await (const lines of readLines(services.store.blobs, keyOf(job, name))) {
      signal.throwIfAborted();
      for (const line of lines) {
        if (line === '') continue;
        await breathe();
        // Most lines are of other sets: their text says so.
        if (type !== 'Patient' && !patientsNamedIn(line).some(isOfSet)) continue;
        const resource = await readStored(line, services);
        const { id } = resource;
        const kept = await cut(line, type, chunk);
        for (const patient of patientsOf(resource, services)) {
          if (!isOfSet(patient)) continue;
          const block = blocks.get(patient) ?? { own: [], others: [] };
          blocks.set(patient, block);
          (type === 'Patient' && id === patient ? block.own : block.others).push(kept);
          size += kept.length;
        }
      }
      if (size < room * 2) continue;
      yield blocks;
      [blocks, size] = [new Map(), 0];
    }
  }
  if (blocks.size > 0) yield blocks;
}

/** The place of a patient among so many sets, the same in every process. */
function setOf(id: string, sets: number): number {
  return sets === 1 ? 0 : createHash('sha1').update(id).digest().readUInt32BE() % sets;
}

/** A line with the elements that were asked for. */
async function cut(line: string, type: string, { input, services }: ExportChunk): Promise<string> {
  const elements = input.parts.find((part) => part.type === type)?.elements;
  if (elements === undefined || services.subset === undefined) return line;
  return writeJson(services.subset(await readStored(line, services), { elements }));
}

async function* toLines(blocks: Blocks): AsyncGenerator<Lines> {
  for (const [id, { own, others }] of blocks) {
    const header = { name: 'header', valueReference: { reference: `Patient/${id}` } };
    const lines = [JSON.stringify({ resourceType: 'Parameters', parameter: [header] }), ...own, ...others];
    yield await Promise.resolve({ lines, count: lines.length });
  }
}
