import { formatInstant } from '../../fhir/instant.js';
import type { StoredVersion } from '../../store/store.js';
import { keyOf, lastPhase, nextName, type ExportCheckpoint, type ExportChunk } from './checkpoint.js';
import { Selection } from './selection.js';
import { writeFile, type Lines } from './write-file.js';

/** Versions that one chunk looks at. */
const LOOKED = 20_000;

const PAGE = 500;

/**
 * Lists what was deleted after `_since` and was so at the transaction time: Bundles whose entries name the deleted resources.
 * https://hl7.org/fhir/uv/bulkdata/STU2/export.html#deleted-array
 */
export async function listDeleted(chunk: ExportChunk): Promise<ExportCheckpoint> {
  const { at, job, services } = chunk;
  const place: { next: string | undefined } = { next: at.history };
  const name = nextName(job, at);
  const count = await writeFile(services.store.blobs, keyOf(job, name), pieces(chunk, place));
  const files = count === 0 ? at.files : [...at.files, { name, type: 'Bundle', count, isOfDeleted: true as const }];
  const { history: _history, ...rest } = at;
  if (place.next !== undefined) return { ...rest, files, history: place.next };
  return { ...rest, files, phase: lastPhase(chunk.input) };
}

async function* pieces(chunk: ExportChunk, place: { next: string | undefined }): AsyncGenerator<Lines> {
  const { input, services, signal, breathe } = chunk;
  const { since = 0, types } = input;
  const selections = new Map(input.parts.map((part) => [part.type, new Selection(part, input, services)]));
  for (let looked = 0; looked < LOOKED;) {
    signal.throwIfAborted();
    const query = { types, since: since + 1, count: PAGE, ...(place.next !== undefined && { after: place.next }) };
    const page = await services.store.history(query, signal);
    const entry: object[] = [];
    for (const version of page.versions) {
      await breathe();
      const { type, id, json, lastUpdated } = version;
      if (json !== undefined || lastUpdated > input.transactionTime) continue;
      if (!(await isOfExport(version, chunk, selections.get(type)))) continue;
      entry.push({ request: { method: 'DELETE', url: `${type}/${id}` } });
    }
    if (entry.length > 0) {
      const meta = { lastUpdated: formatInstant(input.transactionTime) };
      yield { lines: [JSON.stringify({ resourceType: 'Bundle', meta, type: 'transaction', entry })], count: 1 };
    }
    looked += page.versions.length;
    place.next = page.next;
    if (page.next === undefined) return;
  }
}

/** Whether a deletion was still one at the transaction time, and what it deleted would have been exported. */
async function isOfExport(deletion: StoredVersion, chunk: ExportChunk, selection: Selection | undefined) {
  const { services, input } = chunk;
  const { type, id, version, lastUpdated } = deletion;
  if (selection === undefined || !selection.isInTime(lastUpdated)) return false;
  const after = await services.store.readVersion(type, id, version + 1);
  if (after !== undefined && after.lastUpdated <= input.transactionTime) return false;
  const before = await services.store.readVersion(type, id, version - 1);
  return before?.json !== undefined && selection.tookBefore(before);
}
