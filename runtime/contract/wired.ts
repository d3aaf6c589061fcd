/**
 * Ids of the operations that this server has a handler for. The registry of operations has to have exactly these, and the generated
 * reference pages mark all others as not supported: one list, so that the pages and `/metadata` cannot disagree.
 */
export const WIRED_OPERATIONS = [
  'CapabilityStatement-conforms',
  'CapabilityStatement-implements',
  'CapabilityStatement-subset',
  'CapabilityStatement-versions',
  'CodeSystem-find-matches',
  'CodeSystem-lookup',
  'CodeSystem-subsumes',
  'CodeSystem-validate-code',
  'Composition-document',
  'ConceptMap-translate',
  'DocumentReference-docref',
  'Encounter-everything',
  'EpisodeOfCare-everything',
  'Group-everything',
  'List-find',
  'MedicinalProductDefinition-everything',
  'NamingSystem-preferred-id',
  'NamingSystem-translate-id',
  'Observation-lastn',
  'Observation-stats',
  'Patient-everything',
  'Patient-match',
  'Resource-convert',
  'Resource-graph',
  'Resource-meta',
  'Resource-meta-add',
  'Resource-meta-delete',
  'ValueSet-expand',
  'ValueSet-validate-code',
  'diff',
  'export',
  'export-poll-status',
  'expunge',
  'get-resource-counts',
  'hfql-execute',
  'group-export',
  'patient-export',
] as const;

/** `OperationRow.id` of an operation that has a handler. */
export type WiredOperation = (typeof WIRED_OPERATIONS)[number];
