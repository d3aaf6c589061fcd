import { get, many, parameters, put, send, type HostileRequest, type StallCase } from './stall-case.js';

const ASYNC = { prefer: 'respond-async', accept: 'application/fhir+json' };

/** An operation that begins a job. */
const later = (path: string, parameter: readonly object[]): HostileRequest => {
  const request = parameters(path, parameter);
  return { ...request, headers: { ...request.headers, ...ASYNC } };
};

/** The names of a submission. */
const SUBMISSION = [
  { name: 'submitter', valueIdentifier: { value: 'us' } },
  { name: 'submissionId', valueString: 'one' },
];

/** A table of all Persons, each of their values a row. */
const PERSONS = {
  ...{ resourceType: 'ViewDefinition', status: 'active', resource: 'Person' },
  select: [{ forEach: 'identifier', column: [{ name: 'value', path: 'value' }] }],
};

/** Resources of a megabyte each, with many values and with long texts. */
const INDEXED = [
  ...many(4, (n) => ({
    resourceType: 'Person',
    id: `indexed-${n}`,
    identifier: many(8000, (i) => ({ system: 'urn:indexed', value: `indexed-${n}-${i}` })),
    telecom: many(4000, (i) => ({ system: 'phone', value: `+49 ${n} ${i}` })),
  })),
  ...many(4, (n) => ({
    resourceType: 'Person',
    id: `indexed-names-${n}`,
    name: many(12_000, (i) => ({ family: `Indexed ${i}`, given: [`Person ${n} ${i}`], text: 'x' })),
  })),
  ...many(4, (n) => ({
    resourceType: 'Person',
    id: `indexed-text-${n}`,
    text: {
      status: 'generated',
      div: `<div xmlns="http://www.w3.org/1999/xhtml">${many(120_000, (i) => `word${i}`).join(' ')}</div>`,
    },
    name: [{ text: 'naïve '.repeat(20_000) }],
  })),
];

/** What goes on after its answer is measured beside reads for a while by the row after it. */
export const JOB_CASES: readonly StallCase[] = [
  { name: '$export of everything', requests: () => [get('/$export', ASYNC)], status: 202 },
  {
    name: '$bulk-delete',
    requests: () => [later('/$bulk-delete', [{ name: 'url', valueString: 'Basic?_id=none' }])],
    status: 202,
  },
  {
    name: '$bulk-patch',
    requests: () => [
      later('/$bulk-patch', [
        { name: 'url', valueString: 'Basic?_id=none' },
        {
          name: 'patch',
          resource: {
            resourceType: 'Parameters',
            parameter: [
              {
                name: 'operation',
                part: [
                  { name: 'type', valueCode: 'delete' },
                  { name: 'path', valueString: 'Basic.code' },
                ],
              },
            ],
          },
        },
      ]),
    ],
    status: 202,
  },
  {
    name: '$bulk-publish',
    requests: () => many(100, () => get('/$bulk-publish')),
    status: 200,
  },
  {
    name: '$bulk-submit with 10,000 pieces of metadata',
    requests: () => [
      later('/$bulk-submit', [
        ...SUBMISSION,
        { name: 'submissionStatus', valueCoding: { code: 'completed' } },
        ...many(10_000, (n) => ({
          name: 'metadata',
          part: [
            { name: 'parameterUrl', valueUri: `urn:metadata:${n}` },
            { name: 'parameterValue', valueString: String(n) },
          ],
        })),
      ]),
    ],
    status: 200,
  },
  {
    name: '$bulk-submit-status',
    requests: () => [
      later(
        '/$bulk-submit-status',
        SUBMISSION.map((each) => ('valueString' in each ? { ...each, valueString: 'none' } : each)),
      ),
    ],
    status: 404,
  },
  {
    name: '$bulk-submit-poll-status',
    requests: () => many(100, () => get('/$bulk-submit-poll-status?_submission=none')),
    status: 404,
  },
  {
    name: '$bulk-undo',
    requests: () => [later('/$bulk-undo', [{ name: '_jobId', valueString: 'none' }])],
    status: 404,
  },
  {
    name: '$sql-export',
    requests: () => [
      later('/$sql-export', [{ name: 'subject', part: [{ name: 'subjectResource', resource: PERSONS }] }]),
    ],
    status: 202,
  },
  {
    name: '$sql-export-poll-status',
    requests: () => many(100, () => get('/$sql-export-poll-status?_jobId=none')),
    status: 404,
  },
  {
    name: 'a search that is answered later',
    requests: () => many(5, () => get('/Patient?_count=100', ASYNC)),
    status: 202,
  },
  {
    name: '$async-poll-status',
    requests: () => many(100, () => get('/$async-poll-status?_jobId=none')),
    status: 404,
  },
  {
    name: '$async-result',
    requests: () => many(100, () => get('/$async-result?_jobId=none')),
    status: 404,
  },
  {
    name: '$export-poll-status',
    requests: () => many(100, () => get('/$export-poll-status?_jobId=none')),
    status: 404,
  },
  { name: '$export of patients', requests: () => [get('/Patient/$export', ASYNC)], status: 202 },
  { name: '$export of a group of 2,000 members', requests: () => [get('/Group/g/$export', ASYNC)], status: 202 },
  {
    name: '$export by 200 filters',
    requests: () => [
      send(
        'POST',
        '/$export',
        {
          resourceType: 'Parameters',
          parameter: many(200, (n) => ({ name: '_typeFilter', valueString: `Observation?code=code-${n}` })),
        },
        { ...ASYNC, 'content-type': 'application/fhir+json' },
      ),
    ],
    status: 202,
  },
  {
    name: '$import',
    requests: () => [
      send(
        'POST',
        '/$import',
        { resourceType: 'Parameters', parameter: [] },
        { ...ASYNC, 'content-type': 'application/fhir+json' },
      ),
    ],
    status: 400,
  },
  {
    name: '$import-poll-status',
    requests: () => many(100, () => get('/$import-poll-status?_jobId=none')),
    status: 404,
  },
  // A pass waits for jobs under way: before there are any it is short.
  { name: '$perform-reindexing-pass', requests: () => [parameters('/$perform-reindexing-pass', [])], status: 200 },
  {
    name: '$reindex of a type',
    requests: () => [parameters('/$reindex', [{ name: 'url', valueString: 'Basic?' }])],
    status: 202,
  },
  {
    name: '$reindex of one large resource',
    before: () => INDEXED.map(put),
    requests: () => INDEXED.map(({ resourceType, id }) => send('POST', `/${resourceType}/${id}/$reindex`, '')),
    status: 200,
  },
  {
    // A pass waits for the job.
    name: '$reindex of large resources by a job',
    before: (): HostileRequest[] => [
      ...INDEXED.map(put),
      parameters('/$reindex', [{ name: 'url', valueString: 'Person?' }]),
    ],
    requests: () => [parameters('/$perform-reindexing-pass', [])],
    status: 200,
  },
  {
    name: '$svc.fhir.reindex-status',
    requests: () => many(100, () => get('/$svc.fhir.reindex-status?_jobId=none')),
    status: 404,
  },
  { name: '$reindex-terminology', requests: () => [parameters('/$reindex-terminology', [])], status: 200 },
  {
    name: 'a deletion of 800 by criteria',
    requests: () => [{ method: 'DELETE', path: `/Observation?code=${many(200, (n) => `code-${n}`).join(',')}` }],
    status: 200,
    orStatus: 204,
  },
  {
    name: '$expunge',
    requests: () => [
      parameters('/Observation/$expunge', [
        { name: 'limit', valueInteger: 1000 },
        { name: 'expungePreviousVersions', valueBoolean: true },
      ]),
    ],
    status: 200,
  },
  { name: 'a removal of history', requests: () => [{ method: 'DELETE', path: '/Patient/few/_history' }], status: 200 },
  { name: 'a deletion', requests: () => [{ method: 'DELETE', path: '/Patient/queried-0' }], status: 200 },
  {
    name: 'a removal of a version',
    requests: () => [{ method: 'DELETE', path: '/Patient/queried-1/_history/1' }],
    status: 412,
  },
  {
    name: 'an update by criteria of a resource with 10,000 names',
    requests: () => [
      send('PUT', '/Patient?identifier=urn:x|none', {
        resourceType: 'Patient',
        name: many(10_000, (n) => ({ family: `Family ${n}` })),
      }),
    ],
    status: 201,
  },
  {
    name: 'a patch by criteria of very many values',
    requests: () => [
      send(
        'PATCH',
        `/Patient?_id=${many(300, (n) => `none-${n}`).join(',')}`,
        [{ op: 'test', path: '/active', value: true }],
        {
          'content-type': 'application/json-patch+json',
        },
      ),
    ],
    status: 404,
  },
];

/** Begins work on all that is stored, which goes on for minutes: nothing is measured after it. */
export const LAST_CASES: readonly StallCase[] = [
  {
    name: '$mark-all-resources-for-reindexing',
    requests: () => [parameters('/$mark-all-resources-for-reindexing', [])],
    status: 200,
  },
];
