import { removeFiles } from '../../core/job-files/read-job-file.js';
import type { Job } from '../../core/jobs.js';
import type { Services } from '../../core/services.js';
import type { JsonObject } from '../../fhir/resource.js';
import type { ChunkContext, ChunkResult } from '../engine/job-kind.js';
import { openChunk, toResult, type ExportCheckpoint, type ExportChunk } from './checkpoint.js';
import { listDeleted } from './deleted.js';
import { addLate } from './late.js';
import { organize } from './organize.js';
import { addReferred } from './referred.js';
import { walkOn } from './walk.js';

/**
 * One chunk of an export: a file, or a step of what comes after the files. The files hold the versions that were current at the
 * transaction time, each once. https://hl7.org/fhir/uv/bulkdata/STU2/export.html
 */
export async function exportChunk(context: ChunkContext): Promise<ChunkResult> {
  const chunk = openChunk(context);
  switch (chunk.at.phase) {
    case 'settle':
      return toResult(await settle(chunk));
    case 'walk':
      return toResult(await walkOn(chunk));
    case 'late':
      return toResult(await addLate(chunk));
    case 'referred':
      return toResult(await addReferred(chunk));
    case 'deleted':
      return toResult(await listDeleted(chunk));
    case 'organize':
      return toResult(await organize(chunk));
    case 'tables':
    case 'end':
      return finish(chunk);
  }
}

/** Removes the files of an export. */
export async function discardExport(job: Job, { store }: Pick<Services, 'store'>): Promise<void> {
  await removeFiles(job, [], store.blobs);
}

/** Longest pause between two looks whether the past is settled, in milliseconds. */
const MAX_WAIT = 500;

/**
 * Waits until no write can appear any more whose time is the transaction time or earlier. Each look is a chunk of its own: the time of a
 * MongoDB that is idle goes on when the checkpoint is saved, and by itself every ten seconds.
 */
async function settle({ at, input, services, sleep, signal }: ExportChunk): Promise<ExportCheckpoint> {
  const { store } = services;
  const { versions, complete } = await store.history({ count: 1 }, signal);
  const [newest] = versions;
  // A store that writes one after the other says so by naming the instant after its newest version.
  const isSerial = newest === undefined || complete === newest.lastUpdated + 1;
  if (!isSerial && complete <= input.transactionTime) {
    await sleep(Math.min(MAX_WAIT, input.transactionTime - complete + 1));
    return at;
  }
  const isWhole = input.patients === undefined && input.since === undefined && input.until === undefined;
  if (
    !isWhole ||
    input.isHistory ||
    input.parts.some(({ filter, narrowed, postFilter }) => filter ?? narrowed ?? postFilter)
  ) {
    return { ...at, phase: 'walk' };
  }
  const counts = await store.counts();
  const total = input.types.reduce((sum, type) => sum + (counts.get(type) ?? 0), 0);
  return { ...at, phase: 'walk', total };
}

/** Removes what chunks left that did not end. */
async function finish({ at, job, services }: ExportChunk): Promise<ChunkResult> {
  await removeFiles(job, at.files, services.store.blobs);
  return { result: { files: at.files as unknown as JsonObject[] } };
}
