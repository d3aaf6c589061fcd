import { EXPORT, IMPORT, SUBMIT, VIEW_EXPORT } from '../core/job-files/read-job-file.js';
import { discardPublished, PUBLISH } from '../core/bulk-data/publication.js';
import { SUBMISSION_KEPT } from '../core/bulk-data/submission.js';
import { BULK } from './bulk/bulk-input.js';
import type { JobKind } from './engine/job-kind.js';
import { REQUEST } from './request/request-input.js';

const HOUR = 3_600_000;

/** The kinds of jobs that a server works on. What a kind needs is loaded when the first job of it runs. */
export const JOB_KINDS: readonly JobKind[] = [
  {
    type: EXPORT,
    retention: 24 * HOUR,
    schemas: async () => (await import('./schemas.js')).EXPORT_SCHEMAS,
    chunk: async (context) => (await import('./export/export-job.js')).exportChunk(context),
    discard: async (job, services) => (await import('./export/export-job.js')).discardExport(job, services),
  },
  {
    type: VIEW_EXPORT,
    retention: 24 * HOUR,
    schemas: async () => (await import('./schemas.js')).EXPORT_SCHEMAS,
    chunk: async (context) => (await import('./export/view-export.js')).viewExportChunk(context),
    discard: async (job, services) => (await import('./export/export-job.js')).discardExport(job, services),
  },
  {
    type: PUBLISH,
    retention: 24 * HOUR,
    schemas: async () => (await import('./schemas.js')).EXPORT_SCHEMAS,
    chunk: async (context) => (await import('./export/publish-job.js')).publishChunk(context),
    discard: ({ id }, { store }) => discardPublished(id, store),
  },
  {
    type: IMPORT,
    writes: true,
    retention: 24 * HOUR,
    schemas: async () => (await import('./schemas.js')).IMPORT_SCHEMAS,
    chunk: async (context) => (await import('./import/import-job.js')).importChunk(context),
    discard: async (job, services) => (await import('./import/import-job.js')).discardImport(job, services),
  },
  {
    type: SUBMIT,
    secret: 'headers',
    writes: true,
    retention: SUBMISSION_KEPT,
    schemas: async () => (await import('./schemas.js')).SUBMIT_SCHEMAS,
    chunk: async (context) => (await import('./submit/submit-job.js')).submitChunk(context),
    discard: async (job, services) => (await import('./submit/submit-job.js')).discardSubmit(job, services),
  },
  {
    type: REQUEST,
    hasOwnPlaces: true,
    retention: 24 * HOUR,
    schemas: async () => (await import('./schemas.js')).REQUEST_SCHEMAS,
    chunk: async (context) => (await import('./request/request-job.js')).requestChunk(context),
    discard: async (job, services) => (await import('./request/request-job.js')).discardRequest(job, services),
  },
  ...Object.values(BULK).map((type): JobKind => ({
    type,
    writes: true,
    retention: 24 * HOUR,
    schemas: async () => (await import('./schemas.js')).BULK_SCHEMAS,
    chunk: async (context) => (await import('./bulk/bulk-job.js')).bulkChunk(context),
    discard: async (job, services) => (await import('./bulk/bulk-job.js')).discardBulk(job, services),
  })),
  {
    type: 'reindex',
    writes: true,
    retention: 7 * 24 * HOUR,
    givesWay: true,
    schemas: async () => (await import('./schemas.js')).REINDEX_SCHEMAS,
    chunk: async (context) => (await import('./reindex/reindex-job.js')).reindexChunk(context),
  },
  {
    type: 'replace-references',
    writes: true,
    retention: 7 * 24 * HOUR,
    givesWay: true,
    chunk: async (context) => (await import('./replacement/replacement-job.js')).replacementChunk(context),
    discard: async (job, services) =>
      (await import('./replacement/replacement-job.js')).discardReplacement(job, services),
  },
];
