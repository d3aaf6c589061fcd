import type { WiredOperation } from '../contract/index.js';
import type { InteractionHandler } from '../core/services.js';
import { asyncResult, asyncStatus } from './async/async-status.js';
import { addMeta, deleteMeta } from './meta/amend-meta.js';
import { conforms, implementsStatement, subset } from './capabilities/capability-statement.js';
import { bulkDelete, bulkPatch, bulkUndo } from './bulk/bulk.js';
import { changes } from './changes.js';
import { convert } from './convert.js';
import { diff } from './diff.js';
import { document } from './documents/document.js';
import { docref } from './documents/docref.js';
import { generateMetadata } from './documents/generate-metadata.js';
import { getResourceCounts } from './meta/get-resource-counts.js';
import { hfqlExecute } from '../hfql/hfql-execute.js';
import { graph } from './documents/graph.js';
import { importStatus } from './import/import-status.js';
import { startImport } from './import/import.js';
import { graphql } from '../graphql/graphql-operation.js';
import { lastn } from './observations/lastn.js';
import { everything } from './everything/everything.js';
import { bulkPublish } from './export/bulk-publish.js';
import { bulkSubmit } from './submit/bulk-submit.js';
import { bulkSubmitPollStatus, bulkSubmitStatus } from './submit/bulk-submit-status.js';
import { exportStatus } from './export/export-status.js';
import { startExport } from './export/export.js';
import { sqlExport } from '../views/operations/sql-export.js';
import { sqlExportStatus } from '../views/operations/sql-export-status.js';
import { sqlRun } from '../views/operations/sql-run.js';
import { expunge } from './expunge.js';
import { findList } from './list-find.js';
import { match } from '../patient-identity/matching/match.js';
import { merge } from '../patient-identity/merging/merge.js';
import { replaceReferences } from '../patient-identity/merging/replace-references.js';
import { undoMerge, undoReplaceReferences } from '../patient-identity/merging/undo-replace-references.js';
import { meta } from './meta/meta.js';
import { preferredId, translateId } from './naming-system.js';
import { reindexDryrun, reindexInstance } from './reindex/instance-reindex.js';
import { markForReindexing, performPass, reindexTerminology } from './reindex/reindex-old-style.js';
import { reindexStatus } from './reindex/reindex-status.js';
import { startReindex } from './reindex/reindex.js';
import { snapshot } from './snapshot.js';
import { subscriptionEvents } from '../subscriptions/operations/events.js';
import { bindingToken } from '../subscriptions/operations/get-ws-binding-token.js';
import { subscriptionsStatus } from '../subscriptions/operations/status.js';
import { stats } from './observations/stats.js';
import { closure } from '../terminology/operations/closure.js';
import { findMatches as findMatchingCodes, lookup, subsumes } from '../terminology/operations/code-system.js';
import { expandValueSet } from '../terminology/operations/expand.js';
import { translateCode } from '../terminology/operations/translate.js';
import { validateInCodeSystem, validateInValueSet } from '../terminology/operations/validate-code.js';
import { validate } from './validation/validate.js';
import { versions } from './capabilities/versions.js';

/** A handler for each of `WIRED_OPERATIONS`; the compiler refuses one that is missing, or that is not on that list. */
const HANDLERS: Readonly<Record<WiredOperation, InteractionHandler>> = {
  'CapabilityStatement-conforms': conforms,
  'CapabilityStatement-implements': implementsStatement,
  'CapabilityStatement-subset': subset,
  'CapabilityStatement-versions': versions,
  'CodeSystem-find-matches': findMatchingCodes,
  'CodeSystem-lookup': lookup,
  'CodeSystem-subsumes': subsumes,
  'CodeSystem-validate-code': validateInCodeSystem,
  'Composition-document': document,
  'ConceptMap-closure': closure,
  'ConceptMap-translate': translateCode,
  'DocumentReference-docref': docref,
  'Encounter-everything': everything,
  'EpisodeOfCare-everything': everything,
  'Group-everything': everything,
  'List-find': findList,
  'MedicinalProductDefinition-everything': everything,
  'NamingSystem-preferred-id': preferredId,
  'NamingSystem-translate-id': translateId,
  'Observation-lastn': lastn,
  'Observation-stats': stats,
  'Patient-everything': everything,
  'Patient-match': match,
  'Patient-merge': merge,
  'Resource-convert': convert,
  'Resource-graph': graph,
  'Resource-graphql': graphql,
  'Resource-meta': meta,
  'Resource-meta-add': addMeta,
  'Resource-meta-delete': deleteMeta,
  'Resource-validate': validate,
  'StructureDefinition-snapshot': snapshot,
  'Subscription-events': subscriptionEvents,
  'Subscription-get-ws-binding-token': bindingToken,
  'Subscription-status': subscriptionsStatus,
  'ValueSet-expand': expandValueSet,
  'ValueSet-validate-code': validateInValueSet,
  'async-poll-status': asyncStatus,
  'async-result': asyncResult,
  'bulk-delete': bulkDelete,
  'bulk-patch': bulkPatch,
  'bulk-publish': bulkPublish,
  'bulk-submit': bulkSubmit,
  'bulk-submit-poll-status': bulkSubmitPollStatus,
  'bulk-submit-status': bulkSubmitStatus,
  'bulk-undo': bulkUndo,
  changes,
  diff,
  export: startExport,
  'export-poll-status': exportStatus,
  expunge,
  'generate-metadata': generateMetadata,
  'get-resource-counts': getResourceCounts,
  'group-export': startExport,
  'hfql-execute': hfqlExecute,
  import: startImport,
  'import-poll-status': importStatus,
  'instance-reindex': reindexInstance,
  'mark-all-resources-for-reindexing': markForReindexing,
  'patient-export': startExport,
  'perform-reindexing-pass': performPass,
  reindex: startReindex,
  'reindex-dryrun': reindexDryrun,
  'reindex-terminology': reindexTerminology,
  'reindex-status': reindexStatus,
  'replace-references': replaceReferences,
  'sql-export': sqlExport,
  'sql-export-poll-status': sqlExportStatus,
  'sql-run': sqlRun,
  'undo-merge': undoMerge,
  'undo-replace-references': undoReplaceReferences,
};

/**
 * The operations that are wired, by `OperationRow.id`. Router, `Allow`, `/metadata` and the scope check read this map: an operation
 * that is missing here has no route and is claimed nowhere. See docs/adding-an-operation.md.
 */
export const OPERATIONS: ReadonlyMap<string, InteractionHandler> = new Map(Object.entries(HANDLERS));

/** Operations that are there only where web sockets are offered: the setting `subscriptions.websocket`. */
export const WEBSOCKET: ReadonlySet<string> = new Set(['Subscription-get-ws-binding-token']);

/** Settings that switch interactions on, and operations by their id. */
export const SWITCHES: ReadonlyMap<string, 'admin.expunge' | 'exchange.documents' | 'publish.types'> = new Map([
  ['expunge', 'admin.expunge'],
  ['delete-history', 'admin.expunge'],
  ['delete-history-version', 'admin.expunge'],
  ['generate-metadata', 'exchange.documents'],
  ['bulk-publish', 'publish.types'],
]);
