import type { WiredOperation } from '../../../runtime/contract/wired.js';
import { ASYNC } from '../jobs/jobs-server.js';
import { mergeParameters, replacementParameters, undoMergeParameters } from '../operations/replacement-support.js';

/** A call of an operation, and what it needs: nothing less will do. */
export interface OperationCall {
  readonly operation: WiredOperation;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** Single letters on types (`Patient.r`), and custom scopes; `s|r`: the refusal may name the other one. */
  readonly needs: readonly string[];
  /** Status for a token that has just that. */
  readonly done: number;
}

const NONE = 'http://none.example/x';
const REPLACE = '__admin.replace-references';
const REINDEX = '__admin.reindex';
const EXPUNGE = '__admin.expunge';

const parameters = (...parameter: readonly object[]) => ({
  resourceType: 'Parameters',
  ...(parameter.length > 0 && { parameter }),
});
const LABEL = parameters({ name: 'meta', valueMeta: { tag: [{ code: 'x' }] } });
const HFQL = parameters(
  { name: 'action', valueCode: 'search' },
  { name: 'query', valueString: 'select id from Observation' },
);
const RUN = parameters({
  name: 'subjectResource',
  resource: {
    ...{ resourceType: 'ViewDefinition', status: 'active', resource: 'Observation' },
    select: [{ column: [{ name: 'id', path: 'id' }] }],
  },
});
const NO_DOCUMENT = parameters({
  name: 'document',
  resource: { resourceType: 'Binary', contentType: 'text/plain', data: 'SGVsbG8=' },
});
const PATIENT = { resourceType: 'Patient', identifier: [{ value: '1' }] };
const SUBMITTER = { name: 'submitter', valueIdentifier: { value: 'us' } };
const IMPORT = parameters({
  name: 'input',
  part: [
    { name: 'url', valueUri: 'https://files.example/x.ndjson' },
    { name: 'type', valueCode: 'Patient' },
  ],
});

/**
 * Calls of all operations, at each level that has needs of its own. There are Patient/a, to which Observation/o refers, and Patient/b;
 * Composition/c, Encounter/e, EpisodeOfCare/e, Group/g and MedicinalProductDefinition/m. What is not there is allowed, and then 404.
 */
export const OPERATION_CALLS: readonly OperationCall[] = [
  get('CapabilityStatement-conforms', `/CapabilityStatement/$conforms?left=${NONE}&right=${NONE}&mode=server/server`, ['CapabilityStatement.s|r'], 404), // prettier-ignore
  get('CapabilityStatement-implements', `/CapabilityStatement/$implements?server=${NONE}&client=${NONE}`, ['CapabilityStatement.s|r'], 404), // prettier-ignore
  get('CapabilityStatement-implements', `/CapabilityStatement/x/$implements?client=${NONE}`, ['CapabilityStatement.r', 'CapabilityStatement.s'], 404), // prettier-ignore
  get('CapabilityStatement-subset', `/CapabilityStatement/$subset?server=${NONE}&resource=Patient`, ['CapabilityStatement.s|r'], 404), // prettier-ignore
  get('CapabilityStatement-versions', '/$versions', []),
  get('CodeSystem-find-matches', `/CodeSystem/$find-matches?system=${NONE}&exact=true`, ['CodeSystem.r'], 404),
  get('CodeSystem-lookup', `/CodeSystem/$lookup?system=${NONE}&code=x`, ['CodeSystem.r'], 404),
  get('CodeSystem-subsumes', `/CodeSystem/$subsumes?system=${NONE}&codeA=x&codeB=y`, ['CodeSystem.r'], 404),
  get('CodeSystem-validate-code', `/CodeSystem/$validate-code?url=${NONE}&code=x`, ['CodeSystem.r']),
  get('Composition-document', '/Composition/c/$document', ['Composition.r', 'Patient.r']),
  post('ConceptMap-closure', '/$closure', parameters({ name: 'name', valueString: 'x' }), ['ConceptMap.s|r']),
  get('ConceptMap-translate', `/ConceptMap/$translate?url=${NONE}&sourceCode=x&system=${NONE}`, ['ConceptMap.r'], 404),
  post('generate-metadata', '/DocumentReference/$generate-metadata', NO_DOCUMENT, ['DocumentReference.c'], 422),
  get('DocumentReference-docref', '/DocumentReference/$docref?patient=a', ['DocumentReference.s']),
  get('Encounter-everything', '/Encounter/e/$everything', ['Encounter.r']),
  get('EpisodeOfCare-everything', '/EpisodeOfCare/e/$everything', ['EpisodeOfCare.r']),
  get('Group-everything', '/Group/g/$everything', ['Group.r', 'Patient.r']),
  get('List-find', '/List/$find?patient=a&name=current-problems', ['List.s'], 404),
  get('MedicinalProductDefinition-everything', '/MedicinalProductDefinition/$everything', ['MedicinalProductDefinition.r', 'MedicinalProductDefinition.s']), // prettier-ignore
  get('MedicinalProductDefinition-everything', '/MedicinalProductDefinition/m/$everything', ['MedicinalProductDefinition.r']), // prettier-ignore
  get('NamingSystem-preferred-id', `/NamingSystem/$preferred-id?id=${NONE}&type=uri`, ['NamingSystem.s|r'], 404),
  get('NamingSystem-translate-id', `/NamingSystem/$translate-id?id=${NONE}&sourceType=uri&targetType=oid`, ['NamingSystem.s|r']), // prettier-ignore
  get('Observation-lastn', '/Observation/$lastn?patient=a&code=x', ['Observation.s']),
  get('Observation-stats', '/Observation/$stats?subject=Patient/a&code=x&system=http://x.example&statistic=count', ['Observation.s']), // prettier-ignore
  get('Patient-everything', '/Patient/$everything', ['Patient.r', 'Patient.s']),
  get('Patient-everything', '/Patient/a/$everything', ['Patient.r']),
  post('Patient-match', '/Patient/$match', parameters({ name: 'resource', resource: PATIENT }), ['Patient.s']),
  post('Patient-merge', '/Patient/$merge', mergeParameters('Patient/a', 'Patient/b', [{ name: 'preview', valueBoolean: true }]), [REPLACE, 'Patient.r', 'Patient.u', 'Observation.u']), // prettier-ignore
  post('Patient-merge', '/Patient/$merge', mergeParameters('Patient/a', 'Patient/b', [{ name: 'preview', valueBoolean: false }]), [REPLACE, 'Patient.r', 'Patient.u', 'Observation.u'], 202, ASYNC), // prettier-ignore
  post('Resource-convert', '/$convert', { resourceType: 'Patient' }, []),
  get('Resource-graph', `/Patient/a/$graph?graph=${NONE}`, ['Patient.r', 'GraphDefinition.s|r'], 400),
  get('Resource-graphql', '/$graphql?query={Patient(id:"a"){id}}', ['Patient.r']),
  get('Resource-graphql', '/Patient/a/$graphql?query={id}', ['Patient.r']),
  get('Resource-meta', '/$meta', ['Patient.s']),
  get('Resource-meta', '/Patient/$meta', ['Patient.s']),
  get('Resource-meta', '/Patient/a/$meta', ['Patient.r']),
  post('Resource-meta-add', '/Patient/b/$meta-add', LABEL, ['Patient.u']),
  post('Resource-meta-delete', '/Patient/b/$meta-delete', LABEL, ['Patient.u']),
  post('Resource-validate', '/Patient/$validate', parameters({ name: 'resource', resource: PATIENT }), ['Patient.r']), // prettier-ignore
  get('Resource-validate', '/Patient/a/$validate', ['Patient.r']),
  post('StructureDefinition-snapshot', '/StructureDefinition/$snapshot', parameters({ name: 'url', valueString: NONE }), ['StructureDefinition.s|r'], 404), // prettier-ignore
  post('StructureDefinition-snapshot', '/StructureDefinition/x/$snapshot', parameters(), ['StructureDefinition.r', 'StructureDefinition.u'], 404), // prettier-ignore
  get('Subscription-events', '/Subscription/x/$events', ['Subscription.r'], 404),
  post('Subscription-get-ws-binding-token', '/Subscription/$get-ws-binding-token', undefined, ['Subscription.r', 'Subscription.s'], 422), // prettier-ignore
  post(
    'Subscription-get-ws-binding-token',
    '/Subscription/x/$get-ws-binding-token',
    undefined,
    ['Subscription.r'],
    404,
  ),
  get('Subscription-status', '/Subscription/$status', ['Subscription.r', 'Subscription.s']),
  get('Subscription-status', '/Subscription/x/$status', ['Subscription.r'], 404),
  get('ValueSet-expand', `/ValueSet/$expand?url=${NONE}`, ['ValueSet.r'], 404),
  get('ValueSet-validate-code', `/ValueSet/$validate-code?url=${NONE}&system=${NONE}&code=x`, ['ValueSet.r'], 404),
  get('diff', '/$diff?from=Patient/a&to=Patient/b', ['Patient.r']),
  get('changes', '/$changes', ['Patient.r', 'Patient.s']),
  get('changes', '/Patient/$changes', ['Patient.r', 'Patient.s']),
  get('diff', '/Patient/a/$diff', ['Patient.r']),
  job('export', '/$export?_type=Patient,Observation', ['Patient.r', 'Patient.s', 'Observation.r', 'Observation.s']),
  job('patient-export', '/Patient/$export?_type=Observation', ['Patient.r', 'Patient.s', 'Observation.r', 'Observation.s']), // prettier-ignore
  job('patient-export', '/Patient/a/$export?_type=Patient', ['Patient.r', 'Patient.s']),
  job('group-export', '/Group/g/$export?_type=Patient', ['Group.r', 'Patient.r', 'Patient.s']),
  post('bulk-delete', '/$bulk-delete', parameters({ name: 'url', valueString: 'Patient?_id=none' }), ['Patient.d', 'Patient.s'], 202, ASYNC), // prettier-ignore
  post('bulk-patch', '/$bulk-patch', parameters({ name: 'url', valueString: 'Patient?_id=none' }, { name: 'patch', resource: { resourceType: 'Parameters' } }), ['Patient.s', 'Patient.u'], 202, ASYNC), // prettier-ignore
  get('bulk-publish', '/$bulk-publish', ['Patient.r', 'Patient.s'], 503),
  post('bulk-submit', '/$bulk-submit', parameters(SUBMITTER, { name: 'submissionId', valueString: 'one' }, { name: 'submissionStatus', valueCoding: { code: 'completed' } }), ['Patient.c', 'Patient.u']), // prettier-ignore
  post('bulk-submit-status', '/$bulk-submit-status', parameters(SUBMITTER, { name: 'submissionId', valueString: 'none' }), [], 404, ASYNC), // prettier-ignore
  get('bulk-submit-poll-status', '/$bulk-submit-poll-status?_submission=none', [], 404),
  post('bulk-undo', '/$bulk-undo', parameters({ name: '_jobId', valueString: 'none' }), [], 404, ASYNC),
  get('async-poll-status', '/$async-poll-status?_jobId=none', [], 404),
  get('async-result', '/$async-result?_jobId=none', [], 404),
  get('export-poll-status', '/$export-poll-status?_jobId=none', [], 404),
  get('sql-export-poll-status', '/$sql-export-poll-status?_jobId=none', [], 404),
  post('import', '/$import', IMPORT, ['Patient.c', 'Patient.u'], 202, ASYNC),
  get('import-poll-status', '/$import-poll-status?_jobId=none', [], 404),
  post('expunge', '/$expunge', parameters(), [EXPUNGE]),
  post('expunge', '/Patient/$expunge', parameters(), [EXPUNGE, 'Patient.d']),
  post('expunge', '/Patient/a/$expunge', parameters(), [EXPUNGE, 'Patient.d']),
  get('get-resource-counts', '/$get-resource-counts', ['Patient.s']),
  post('hfql-execute', '/$hfql-execute', HFQL, ['Observation.s']),
  post('sql-run', '/$sql-run', RUN, ['Observation.s']),
  post(
    'sql-export',
    '/$sql-export',
    parameters({ name: 'subject', part: RUN.parameter }),
    ['Observation.s'],
    202,
    ASYNC,
  ),
  // Before the jobs that a pass waits for.
  post('perform-reindexing-pass', '/$perform-reindexing-pass', parameters(), [REINDEX]),
  post('instance-reindex', '/Patient/a/$reindex', parameters(), [REINDEX, 'Patient.r']),
  get('reindex-dryrun', '/Patient/a/$reindex-dryrun', [REINDEX, 'Patient.r']),
  post(
    'reindex',
    '/$reindex',
    parameters({ name: 'url', valueString: 'Patient?' }),
    [REINDEX, 'Patient.s'],
    202,
    ASYNC,
  ),
  get('reindex-status', '/$svc.fhir.reindex-status?_jobId=none', [REINDEX], 404),
  post('mark-all-resources-for-reindexing', '/$mark-all-resources-for-reindexing', parameters(), [REINDEX]),
  post('reindex-terminology', '/$reindex-terminology', parameters(), [REINDEX]),
  // Without Device.r the two resources would not be shown.
  post('replace-references', '/$svc.fhir.replace-references', replacementParameters('Patient/a', 'Patient/b'), [REPLACE, 'Patient.r', 'Observation.u'], 202, ASYNC), // prettier-ignore
  post('undo-replace-references', '/$svc.fhir.undo-replace-references', replacementParameters('Patient/b', 'Patient/a'), [REPLACE, 'Patient.r'], 404), // prettier-ignore
  post('undo-merge', '/Patient/$svc.fhir.undo-merge', undoMergeParameters('Patient/b', 'Patient/a'), [REPLACE, 'Patient.r', 'Patient.u'], 404), // prettier-ignore
];

function get(operation: WiredOperation, path: string, needs: readonly string[], done = 200): OperationCall {
  return { operation, method: 'GET', path, needs, done };
}

function post(
  operation: WiredOperation,
  path: string,
  body: object | undefined,
  needs: readonly string[],
  done = 200,
  headers = {},
): OperationCall {
  return { operation, method: 'POST', path, ...(body !== undefined && { body }), needs, done, headers };
}

/** The kick-off of an export. */
function job(operation: WiredOperation, path: string, needs: readonly string[]): OperationCall {
  return { ...get(operation, path, needs, 202), headers: ASYNC };
}
