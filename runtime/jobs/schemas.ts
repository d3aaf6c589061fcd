import type { JobSchemas } from './engine/check-job.js';

/** JSON Schemas of the documents that each kind of job keeps in the store, member by member as in its interfaces. */

const text = { type: 'string' };
const flag = { type: 'boolean' };
const count = { type: 'integer', minimum: 0, description: 'a whole number from 0' };
const instant = { type: 'number', description: 'milliseconds since the epoch' };
const texts = { type: 'array', items: text };
/** A condition of a search is checked by the store that compiles it. */
const condition = { type: 'object' };

/** An object with these members and no others. @param optional those that may be absent */
function object(properties: Readonly<Record<string, object>>, ...optional: readonly string[]): object {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', additionalProperties: false, required, properties };
}

const files = {
  type: 'array',
  items: object(
    {
      ...{ name: text, type: text, count, isOfDeleted: { const: true }, goesOn: { const: true }, part: count },
      table: object({ output: text, contentType: text, fileName: text }),
    },
    ...['isOfDeleted', 'goesOn', 'part', 'table'],
  ),
};

/** What a table of an export is called, and how it is written. */
const table = { name: text, format: text, hasHeader: flag };

const exportParts = {
  type: 'array',
  items: object(
    {
      ...{ type: text, filter: condition, narrowed: condition, postFilter: condition, elements: texts },
      view: object({ ...table, definition: { type: 'object' }, isBelow: { const: true } }, 'isBelow'),
    },
    ...['filter', 'narrowed', 'postFilter', 'elements', 'view'],
  ),
};

/** `ExportInput` and `ExportCheckpoint`. */
export const EXPORT_SCHEMAS: JobSchemas = {
  input: object(
    {
      transactionTime: instant,
      request: text,
      base: text,
      asked: text,
      types: texts,
      parts: exportParts,
      queries: {
        type: 'array',
        items: object({ ...table, query: { type: 'object' }, parts: { type: 'array', items: count } }),
      },
      referred: exportParts,
      patients: { anyOf: [{ const: 'all' }, texts], description: '"all" or a list of ids' },
      since: instant,
      until: instant,
      isHistory: flag,
      exportId: text,
      isPartial: flag,
      organizedBy: { const: 'Patient' },
      deletions: texts,
    },
    ...['queries', 'referred', 'patients', 'since', 'until', 'exportId', 'isPartial', 'organizedBy', 'deletions'],
  ),
  checkpoint: object(
    {
      phase: { enum: ['settle', 'walk', 'late', 'referred', 'deleted', 'tables', 'organize', 'end'] },
      part: count,
      block: count,
      after: text,
      history: text,
      files,
      sources: files,
      walked: count,
      done: count,
      total: count,
    },
    ...['after', 'history', 'sources', 'total'],
  ),
};

/** `ImportInput` and the checkpoint of `import-job.ts`. */
export const IMPORT_SCHEMAS: JobSchemas = {
  input: object({
    request: text,
    base: text,
    files: { type: 'array', items: object({ url: text, key: text, type: text }, 'key', 'type') },
    types: texts,
  }),
  checkpoint: object(
    {
      file: count,
      at: count,
      line: count,
      fetched: text,
      counts: {
        type: 'array',
        items: object({ created: count, updated: count, unchanged: count, failed: count }),
      },
      errors: files,
      waiting: count,
    },
    ...['fetched', 'waiting'],
  ),
};

/** `SubmitInput` and `SubmitCheckpoint`. */
export const SUBMIT_SCHEMAS: JobSchemas = {
  input: object(
    { base: text, types: texts, manifestUrl: text, headers: { type: 'object' }, undoes: texts },
    ...['manifestUrl', 'headers'],
  ),
  checkpoint: object(
    {
      ...{ phase: { enum: ['wait', 'undo', 'manifest', 'import', 'end'] }, part: count, pages: texts, read: count },
      undone: object({ done: count, skipped: count, failed: count }),
      files: { type: 'array', items: object({ url: text, type: text }) },
      ...{ import: { type: 'object' }, lists: files, faults: texts },
    },
    'import',
  ),
};

/** `ReindexInput` and the checkpoint of `reindex-job.ts`. */
export const REINDEX_SCHEMAS: JobSchemas = {
  input: object({
    parts: { type: 'array', items: object({ type: text, where: condition }, 'where') },
    isWhole: flag,
    makesEntries: flag,
    batchSize: { ...count, minimum: 1 },
  }),
  checkpoint: object(
    {
      by: text,
      part: count,
      after: text,
      size: count,
      total: count,
      counts: object(
        {
          types: { type: 'object', additionalProperties: object({ changed: count, unchanged: count, failed: count }) },
          failures: texts,
          hasUnnamedFailures: { const: true },
        },
        'hasUnnamedFailures',
      ),
    },
    ...['after', 'total'],
  ),
};

const requestMembers = {
  ...{ interaction: text, operation: text, level: text, type: text, id: text, versionId: text, member: text },
  ...{
    params: text,
    form: text,
    sent: text,
    sentKey: text,
    base: text,
    accept: text,
    languages: text,
    isDeletion: { const: true },
  },
  ...{ conditions: { type: 'object' }, prefer: { type: 'object' }, trace: { type: 'object' } },
};

/** `RequestInput` and the checkpoint of `request-job.ts`. */
export const REQUEST_SCHEMAS: JobSchemas = {
  input: object(
    requestMembers,
    ...Object.keys(requestMembers).filter((name) => !['interaction', 'params', 'base'].includes(name)),
  ),
  checkpoint: object({ result: { type: 'object', required: ['status'] }, progress: { type: 'object' } }),
};

/** `BulkInput` and `BulkCheckpoint`. */
export const BULK_SCHEMAS: JobSchemas = {
  input: object(
    {
      base: text,
      trace: { type: 'object' },
      parts: { type: 'array', items: object({ type: text, where: condition }) },
      until: instant,
      patch: { type: 'object' },
      undoes: object({ type: text, id: text, pages: count }),
    },
    ...['trace', 'patch', 'undoes'],
  ),
  checkpoint: object(
    {
      part: count,
      after: text,
      page: count,
      planned: { type: 'array', items: { type: 'array' } },
      total: count,
      counts: object({ done: count, skipped: count, failed: count, failures: texts }),
    },
    ...['after', 'planned'],
  ),
};
