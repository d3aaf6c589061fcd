import type { Store } from '../../../runtime/store/store.js';
import { bulkDataKit } from './bulk-data-kit.js';
import { asyncRequests } from './async.js';
import { requestsOnce } from './async-once.js';
import { bulkChanges } from './bulk.js';
import { publications } from './bulk-publish.js';
import { submissions } from './bulk-submit.js';
import { exportsReferred } from './export-referred.js';
import { exports } from './export.js';
import { importedReferences } from './import-references.js';
import { imports } from './import.js';
import { reindexing } from './reindex.js';
import { replacements } from './replacement.js';
import { jobsPerClient, rights } from './rights.js';
import { sqlExports } from './sql-export.js';

/** What jobs do, whatever the store. Each suite gets a store of its own, with nothing in it. */
export const SUITES: Readonly<Record<string, (store: Store) => void>> = {
  $export: exports,
  '$sql-export': sqlExports,
  'what exports of groups refer to': exportsReferred,
  'checks of the Bulk Data Test Kit': bulkDataKit,
  'asynchronous requests': asyncRequests,
  'asynchronous requests whose process dies': requestsOnce,
  'changes of what searches find': bulkChanges,
  '$bulk-publish': publications,
  '$bulk-submit': submissions,
  $import: imports,
  'references of what is imported': importedReferences,
  $reindex: reindexing,
  'replacement of references': replacements,
  'rights of jobs': rights,
  'number of jobs': jobsPerClient,
};
