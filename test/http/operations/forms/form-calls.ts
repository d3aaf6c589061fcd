import type { WiredOperation } from '../../../../runtime/contract/wired.js';
import type { JsonObject } from '../../../../runtime/fhir/resource.js';
import { mergeParameters, replacementParameters, undoMergeParameters } from '../replacement-support.js';

/** A call of an operation in the world of `FORM_WORLD`, from which all its forms are derived. */
export interface FormCall {
  readonly operation: WiredOperation;
  /** Path before the name of the operation: `` for the system, `/Type`, `/Type/id` or `/Type/id/_history/n`. */
  readonly at: string;
  /** The parameters, as a body has them. */
  readonly parameter: readonly JsonObject[];
  /** The body, where it is no Parameters resource, or one that is made elsewhere. */
  readonly body?: object;
  /** Criteria in the URL, beside the parameters. */
  readonly query?: string;
  /** Whether it takes criteria of searches, so that an unknown one is for the search to refuse. */
  readonly takesSearch?: boolean;
  /** Whether its answer is no resource, and so has one form. */
  readonly isPlain?: boolean;
  /** Status of the answer; absent: 200. */
  readonly done?: number;
}

/** Operations that only begin a job. */
export const JOBS: ReadonlySet<WiredOperation> = new Set([
  'bulk-delete',
  'bulk-patch',
  'bulk-submit-status',
  'bulk-undo',
  'export',
  'sql-export',
  'patient-export',
  'group-export',
  'import',
  'reindex',
  'replace-references',
]);

const value = (name: string, type: string, given: unknown): JsonObject => ({ name, [`value${type}`]: given as string });
const call = (operation: WiredOperation, at: string, ...parameter: readonly JsonObject[]): FormCall => ({ operation, at, parameter }); // prettier-ignore

/** Who submits. */
const SUBMITTER = value('submitter', 'Identifier', { value: 'us' });

/** A view of SQL on FHIR. */
const VIEW = {
  name: 'subjectResource',
  resource: {
    ...{ resourceType: 'ViewDefinition', status: 'active', resource: 'Patient' },
    select: [{ column: [{ name: 'id', path: 'id' }] }],
  },
};
const CODES = 'http://form.example/codes';
/** A document about the patient of the world. */
const DOCUMENT = {
  ...{ resourceType: 'Bundle', type: 'document', timestamp: '2024-01-01T00:00:00Z' },
  meta: { tag: [{ system: 'http://form.example/tags', code: 'in' }] },
  identifier: { system: 'urn:ietf:rfc:3986', value: 'urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e1' },
  entry: [
    {
      fullUrl: 'urn:uuid:3d1c1a24-0bd1-4a5b-b9c9-9c0b4a2e0f12',
      resource: {
        ...{ resourceType: 'Composition', status: 'final', type: { text: 'x' }, date: '2024-01-01', title: 'x' },
        ...{ author: [{ display: 'x' }], subject: [{ reference: 'Patient/good' }] },
      },
    },
  ],
};
const META = value('meta', 'Meta', { tag: [{ system: 'http://x.example', code: 'x' }] });
const CAPABILITIES = 'http://form.example/capabilities';

/** Each operation at each level that it has. */
export const FORM_CALLS: readonly FormCall[] = [
  call('CapabilityStatement-conforms', '/CapabilityStatement', value('left', 'Canonical', CAPABILITIES), value('right', 'Canonical', CAPABILITIES), value('mode', 'Code', 'server/server')), // prettier-ignore
  call('CapabilityStatement-implements', '/CapabilityStatement', value('server', 'Canonical', CAPABILITIES), value('client', 'Canonical', CAPABILITIES)), // prettier-ignore
  call('CapabilityStatement-implements', '/CapabilityStatement/good', value('client', 'Canonical', CAPABILITIES)),
  call('CapabilityStatement-subset', '/CapabilityStatement', value('server', 'Uri', CAPABILITIES), value('resource', 'Code', 'Patient')), // prettier-ignore
  call('CapabilityStatement-subset', '/CapabilityStatement/good', value('resource', 'Code', 'Patient')),
  call('CapabilityStatement-versions', ''),
  call('CodeSystem-find-matches', '/CodeSystem', value('system', 'Uri', CODES), value('exact', 'Boolean', true), { name: 'property', part: [value('code', 'Code', 'size'), value('value', 'Code', '1')] } as never), // prettier-ignore
  call('CodeSystem-find-matches', '/CodeSystem/good', value('exact', 'Boolean', true), { name: 'property', part: [value('code', 'Code', 'size'), value('value', 'Code', '1')] } as never), // prettier-ignore
  call('CodeSystem-lookup', '/CodeSystem', value('system', 'Uri', CODES), value('code', 'Code', 'b')),
  call('CodeSystem-lookup', '/CodeSystem/good', value('code', 'Code', 'b')),
  call('CodeSystem-subsumes', '/CodeSystem', value('system', 'Uri', CODES), value('codeA', 'Code', 'a'), value('codeB', 'Code', 'b')), // prettier-ignore
  call('CodeSystem-subsumes', '/CodeSystem/good', value('codeA', 'Code', 'a'), value('codeB', 'Code', 'b')),
  call('CodeSystem-validate-code', '/CodeSystem', value('url', 'Uri', CODES), value('code', 'Code', 'b')),
  call('CodeSystem-validate-code', '/CodeSystem/good', value('code', 'Code', 'b')),
  call('Composition-document', '/Composition/good', value('persist', 'Boolean', false)),
  call('ConceptMap-closure', '', value('name', 'String', 'forms')),
  call('ConceptMap-closure', '/ConceptMap', value('name', 'String', 'forms')),
  call('ConceptMap-translate', '/ConceptMap', value('url', 'Uri', 'http://form.example/map'), value('sourceCode', 'Code', 'a'), value('system', 'Uri', CODES)), // prettier-ignore
  call('ConceptMap-translate', '/ConceptMap/good', value('sourceCode', 'Code', 'a'), value('system', 'Uri', CODES)),
  call('generate-metadata', '/DocumentReference', { name: 'document', resource: DOCUMENT }),
  call('DocumentReference-docref', '/DocumentReference', value('patient', 'Id', 'good')),
  call('Encounter-everything', '/Encounter/good', value('_count', 'Integer', 50)),
  call('EpisodeOfCare-everything', '/EpisodeOfCare/good', value('_type', 'Code', 'Patient')),
  call('Group-everything', '/Group/good', value('start', 'Date', '2020-01-01'), value('end', 'Date', '2030-01-01')),
  call('MedicinalProductDefinition-everything', '/MedicinalProductDefinition', value('_count', 'Integer', 50)),
  call('MedicinalProductDefinition-everything', '/MedicinalProductDefinition/good', value('_since', 'Instant', '2020-01-01T00:00:00Z')), // prettier-ignore
  call('Patient-everything', '/Patient', value('_count', 'Integer', 50)),
  call('Patient-everything', '/Patient/good', value('start', 'Date', '2020-01-01'), value('_since', 'Instant', '2020-01-01T00:00:00Z')), // prettier-ignore
  call('List-find', '/List', value('patient', 'Id', 'good'), value('name', 'Code', 'current-problems')),
  call('NamingSystem-preferred-id', '/NamingSystem', value('id', 'String', 'http://form.example/ids'), value('type', 'Code', 'oid')), // prettier-ignore
  call('NamingSystem-translate-id', '/NamingSystem', value('id', 'String', 'http://form.example/ids'), value('sourceType', 'Code', 'uri'), value('targetType', 'Code', 'oid')), // prettier-ignore
  { ...call('Observation-lastn', '/Observation', value('max', 'PositiveInt', 2)), query: 'patient=good&code=x', takesSearch: true }, // prettier-ignore
  call('Observation-stats', '/Observation', value('subject', 'Uri', 'Patient/good'), value('code', 'String', 'x'), value('system', 'Uri', 'http://x.example'), value('statistic', 'Code', 'count'), value('statistic', 'Code', 'average')), // prettier-ignore
  call('Patient-match', '/Patient', { name: 'resource', resource: { resourceType: 'Patient', identifier: [{ system: 'http://x.example/ids', value: '1' }] } }), // prettier-ignore
  { ...call('Patient-merge', '/Patient'), body: mergeParameters('Patient/other', 'Patient/good', [{ name: 'preview', valueBoolean: true }]) }, // prettier-ignore
  { ...call('Resource-convert', ''), body: { resourceType: 'Patient', active: true } },
  call('Resource-graph', '/Observation/good', value('graph', 'Uri', 'GraphDefinition/good')),
  { ...call('Resource-graphql', '', value('query', 'String', '{Patient(id:"good"){id}}')), isPlain: true },
  { ...call('Resource-graphql', '/Patient/good', value('query', 'String', '{id}')), isPlain: true },
  call('Resource-meta', ''),
  call('Resource-meta', '/Patient'),
  call('Resource-meta', '/Patient/good'),
  call('Resource-meta', '/Patient/good/_history/1'),
  call('Resource-meta-add', '/Patient/other', META),
  call('Resource-meta-delete', '/Patient/other', META),
  call('Resource-meta-add', '/Patient/good/_history/1', META),
  call('Resource-meta-delete', '/Patient/good/_history/1', META),
  call('Resource-validate', '/Patient', { name: 'resource', resource: { resourceType: 'Patient', active: true } }),
  call('Resource-validate', '/Patient/good', value('mode', 'Code', 'profile'), value('profile', 'Canonical', 'http://form.example/profile')), // prettier-ignore
  call('StructureDefinition-snapshot', '/StructureDefinition', value('url', 'String', 'http://form.example/profile')),
  call('StructureDefinition-snapshot', '/StructureDefinition/good'),
  { ...call('Subscription-events', '/Subscription/none', value('content', 'Code', 'id-only')), done: 404 },
  { ...call('Subscription-get-ws-binding-token', '/Subscription', value('id', 'Id', 'none')), done: 404 },
  { ...call('Subscription-get-ws-binding-token', '/Subscription/none'), done: 404 },
  call('Subscription-status', '/Subscription', value('id', 'Id', 'none')),
  { ...call('Subscription-status', '/Subscription/none'), done: 404 },
  call('ValueSet-expand', '/ValueSet', value('url', 'Uri', 'http://form.example/values'), value('count', 'Integer', 5)),
  call('ValueSet-expand', '/ValueSet/good', value('includeDesignations', 'Boolean', true)),
  call('ValueSet-validate-code', '/ValueSet', value('url', 'Uri', 'http://form.example/values'), value('system', 'Uri', CODES), value('code', 'Code', 'b')), // prettier-ignore
  call('ValueSet-validate-code', '/ValueSet/good', value('system', 'Uri', CODES), value('code', 'Code', 'b')),
  call('changes', '', value('_count', 'PositiveInt', 1)),
  call('changes', '/Patient', value('_count', 'PositiveInt', 1)),
  call('diff', '', value('from', 'String', 'Patient/good'), value('to', 'String', 'Patient/other')),
  call('diff', '/Patient/good', value('fromVersion', 'String', '1'), value('includeMeta', 'Boolean', false)),
  call('diff', '/Patient/good/_history/2'),
  call('expunge', '', value('limit', 'Integer', 10)),
  call('expunge', '/Patient', value('limit', 'Integer', 10)),
  call('expunge', '/Patient/good', value('limit', 'Integer', 10)),
  call('expunge', '/Patient/good/_history/1', value('limit', 'Integer', 10)),
  call('get-resource-counts', ''),
  { ...call('hfql-execute', '', value('action', 'Code', 'search'), value('query', 'String', 'select id from Patient')), isPlain: true }, // prettier-ignore
  { ...call('sql-run', '', VIEW), isPlain: true },
  { ...call('sql-export', '', { name: 'subject', part: [VIEW] } as never), isPlain: true, done: 202 },
  // Before the jobs that a pass waits for.
  call('perform-reindexing-pass', ''),
  call('instance-reindex', '/Patient/good'),
  call('reindex-dryrun', '/Patient/good'),
  call('mark-all-resources-for-reindexing', ''),
  call('reindex-terminology', ''),
  { ...call('export', '', value('_type', 'String', 'Patient')), done: 202 },
  { ...call('patient-export', '/Patient', value('_type', 'String', 'Patient')), done: 202 },
  { ...call('patient-export', '/Patient/good', value('_type', 'String', 'Patient')), done: 202 },
  { ...call('group-export', '/Group/good', value('_type', 'String', 'Patient')), done: 202 },
  { ...call('import', '', { name: 'input', part: [value('url', 'Uri', 'https://files.example/x.ndjson'), value('type', 'Code', 'Patient')] } as never), done: 202 }, // prettier-ignore
  { ...call('reindex', '', value('url', 'String', 'Patient?')), done: 202 },
  { ...call('bulk-delete', '', value('url', 'String', 'Basic?_id=none')), done: 202 },
  { ...call('bulk-patch', '', value('url', 'String', 'Basic?_id=none'), { name: 'patch', resource: { resourceType: 'Parameters', parameter: [{ name: 'operation', part: [value('type', 'Code', 'delete'), value('path', 'String', 'Basic.subject')] }] } }), done: 202 }, // prettier-ignore
  { ...call('bulk-publish', ''), done: 503 },
  call('bulk-submit', '', SUBMITTER, value('submissionId', 'String', 'one'), value('submissionStatus', 'Coding', { code: 'completed' })), // prettier-ignore
  { ...call('bulk-submit-status', '', SUBMITTER, value('submissionId', 'String', 'none')), done: 404 },
  { ...call('bulk-submit-poll-status', '', value('_submission', 'String', 'none')), done: 404 },
  { ...call('bulk-undo', '', value('_jobId', 'String', 'none')), done: 404 },
  { ...call('async-poll-status', '', value('_jobId', 'String', 'none')), done: 404 },
  { ...call('async-result', '', value('_jobId', 'String', 'none')), done: 404 },
  { ...call('export-poll-status', '', value('_jobId', 'String', 'none')), done: 404 },
  { ...call('sql-export-poll-status', '', value('_jobId', 'String', 'none')), done: 404 },
  { ...call('import-poll-status', '', value('_jobId', 'String', 'none')), done: 404 },
  { ...call('reindex-status', '', value('_jobId', 'String', 'none')), done: 404 },
  {
    ...call('replace-references', ''),
    body: replacementParameters('Patient/other', 'Patient/good'),
    done: 202,
  },
  { ...call('undo-replace-references', ''), body: replacementParameters('Patient/good', 'Patient/other'), done: 404 }, // prettier-ignore
  { ...call('undo-merge', '/Patient'), body: undoMergeParameters('Patient/good', 'Patient/other'), done: 404 },
];
