import type { ExportFile } from '../../core/job-files/read-job-file.js';
import { discardPublished, readPublication } from '../../core/bulk-data/publication.js';
import type { JsonObject } from '../../fhir/resource.js';
import type { ChunkContext, ChunkResult } from '../engine/job-kind.js';
import type { ExportInput } from './export-input.js';
import { exportChunk } from './export-job.js';
import { readLines } from './write-file.js';

/** Resources that one query looks for. */
const BLOCK = 200;

/**
 * One chunk of what makes the files of a publication: an export of the server's own. At its end it says whether they can be added to those
 * before: clients take all that is listed as written first, then all that is listed as deleted, so that what was deleted may not come again.
 */
export async function publishChunk(context: ChunkContext): Promise<ChunkResult> {
  const done = await exportChunk(context);
  if (done.result === undefined) return done;
  const { job, services } = context;
  const files = done.result['files'] as unknown as readonly ExportFile[];
  const { deletions = [] } = job.input as unknown as ExportInput;
  const restarts = files.some(({ isOfDeleted }) => isOfDeleted !== true) && (await comesAgain(deletions, context));
  if ((await readPublication(services.store))?.publication.next === job.id) {
    return { ...done, result: { files: files as unknown as JsonObject[], restarts } };
  }
  // It was given up meanwhile.
  await discardPublished(job.id, services.store);
  return { ...done, result: { files: [], restarts: false } };
}

/** Whether some of what was deleted is there again. */
async function comesAgain(
  deletions: readonly string[],
  { services: { store }, signal, breathe }: ChunkContext,
): Promise<boolean> {
  for (const key of deletions) {
    for await (const lines of readLines(store.blobs, key)) {
      for (const line of lines) {
        for (const [type, ids] of deletedIn(line)) {
          for (let at = 0; at < ids.length; at += BLOCK) {
            const where = { ids: ids.slice(at, at + BLOCK) };
            const found = await store.find({ type, where, sort: [], count: 1, total: 'none' }, signal);
            if (found.versions.length > 0) return true;
            await breathe();
          }
        }
      }
    }
  }
  return false;
}

/** The ids that a Bundle of deletions names, by type. */
function deletedIn(line: string): ReadonlyMap<string, string[]> {
  const ids = new Map<string, string[]>();
  const { entry } = JSON.parse(line) as { readonly entry: readonly { readonly request: { readonly url: string } }[] };
  for (const { request } of entry) {
    const [type = '', id = ''] = request.url.split('/');
    ids.set(type, [...(ids.get(type) ?? []), id]);
  }
  return ids;
}
