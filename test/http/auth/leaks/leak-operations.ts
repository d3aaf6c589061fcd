import { tables } from '../../../../generated/tables.js';
import type { RouteRow } from '../../../../runtime/contract/rest.js';
import type { Random } from '../../../contract/random.js';
import { ASYNC } from '../../jobs/jobs-server.js';
import { library } from '../../operations/query/library.js';
import { PROFILES } from './leak-profiles.js';
import type { Values } from './leak-values.js';
import { DRAFT_TYPES, idsOfType } from './leak-world.js';

/** A value of a parameter, what is no text as JSON has it. */
type Argument = readonly [name: string, value: string | number | boolean | object];

/** What arguments are made of. */
interface Making {
  readonly random: Random;
  readonly value: Values;
  /** Types of which the client sees something. */
  readonly known: readonly string[];
  /** A resource that is sent. */
  readonly content: (type: string, id?: string) => { readonly resourceType: string };
  /** The query of a search that finds something, encoded. */
  readonly search: (type: string) => string;
}

type Maker = (making: Making, type: string) => readonly Argument[];

/** A number that stands for a job in paths, bodies and ids of files: `@job2@`. */
const JOBS = [0, 1, 2, 3, 4, 5, 6, 7];
/** Stands for a Binary with the lines of an import. */
export const UPLOADED = 'Binary/@upload@';

/** The name of a job that others, or wider tokens, have started. */
export const someJob = ({ pick }: Random): string => `@job${pick(JOBS)}@`;

const patient = ({ random }: Making): string => `Patient/${random.pick(idsOfType('Patient'))}`;
const maybe = ({ chance }: Random, probability: number, ...all: readonly Argument[]): readonly Argument[] =>
  chance(probability) ? all : [];
const types = ({ random, known }: Making): string =>
  [random.pick(known), ...random.some(2, () => random.pick([...known, ...DRAFT_TYPES]))].join();
const found = ({ random, value }: Making, type: string, param: string): string => value.find(type, param, random);
const job: Maker = ({ random }) => [['_jobId', someJob(random)]];

const submitted: Maker = ({ random }) => [
  ['submitter', { value: 'us' }],
  ['submissionId', `s${random.below(3)}`],
];

const everything: Maker = (m) => [
  ...maybe(m.random, 0.4, ['_type', types(m)]),
  ...maybe(m.random, 0.2, ['_since', `@${m.random.below(100)}@`]),
  ...maybe(m.random, 0.3, ['_count', m.random.pick([1, 3, 50])]),
];
const exporting: Maker = (m) => [
  ['_type', types(m)],
  ...maybe(m.random, 0.3, ['_since', `@${m.random.below(100)}@`]),
  ...maybe(m.random, 0.3, ['_typeFilter', filter(m)]),
];

function filter(making: Making): string {
  const type = making.random.pick(making.known);
  return `${type}?${making.search(type)}`;
}

/** A document about a patient, whom its answer must not tell of. */
const documentAbout = (reference: string): object => ({
  ...{ resourceType: 'Bundle', type: 'document', timestamp: '2024-01-01T00:00:00Z' },
  identifier: { system: 'urn:ietf:rfc:3986', value: 'urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e1' },
  entry: [
    {
      fullUrl: 'urn:uuid:3d1c1a24-0bd1-4a5b-b9c9-9c0b4a2e0f12',
      resource: {
        ...{ resourceType: 'Composition', status: 'final', type: { text: 'x' }, date: '2024-01-01', title: 'x' },
        ...{ author: [{ display: 'x' }], subject: [{ reference }] },
      },
    },
  ],
});

/** A view that shows ids, whom resources are about, or counts by a condition. */
function viewOf({ random }: Making, type: string): object {
  const paths = [
    'id',
    'getResourceKey()',
    'meta.versionId',
    'subject.getReferenceKey()',
    'identifier.first().value',
    'name.count()',
  ];
  const column = paths
    .filter((path) => path === 'id' || random.chance(0.5))
    .map((path, i) => ({ name: `c${i}`, path }));
  const where = random.chance(0.3)
    ? [{ path: random.pick(['identifier.exists()', 'subject.exists()', "status = 'final'"]) }]
    : [];
  return {
    resourceType: 'ViewDefinition',
    status: 'active',
    resource: type,
    select: [{ column }],
    ...(where.length > 0 && { where }),
  };
}

/** A query that counts the rows of a view, or shows them. */
function queryOf(making: Making, type: string): readonly Argument[] {
  const sql = making.random.pick(['SELECT * FROM t', 'SELECT count(*) AS n, max(c0) AS most FROM t']);
  const view = { ...viewOf(making, type), url: 'urn:t' };
  return [
    ['subjectResource', library(sql, { t: 'urn:t' })],
    ['context', view],
  ];
}

/** A view that is stored, which the client may not see. */
function storedView(making: Making): Argument {
  const { random } = making;
  return random.chance(0.5)
    ? ['subjectCanonical', found(making, 'ViewDefinition', 'url')]
    : ['subjectReference', { reference: `ViewDefinition/${random.pick(idsOfType('ViewDefinition'))}` }];
}

/** A query takes a process, which takes time. */
function subjectOf(making: Making, type: string): readonly Argument[] {
  if (making.random.chance(0.05)) return queryOf(making, type);
  return [making.random.chance(0.4) ? storedView(making) : ['subjectResource', viewOf(making, type)]];
}

/** A patch that every resource takes. */
const LANGUAGE = {
  resourceType: 'Parameters',
  parameter: [
    {
      name: 'operation',
      part: [
        { name: 'type', valueCode: 'replace' },
        { name: 'path', valueString: 'language' },
        { name: 'value', valueCode: 'de' },
      ],
    },
  ],
};

/** Operations that answer by what there is, and what they are asked with. */
const ARGUMENTS: Readonly<Record<string, Maker>> = {
  'Patient-everything': everything,
  'Encounter-everything': everything,
  'Group-everything': everything,
  'Patient-match': (m) => [
    ['resource', wanted(m)],
    ...maybe(m.random, 0.3, ['count', m.random.pick([1, 2, 10])]),
    ...maybe(m.random, 0.2, ['onlyCertainMatches', true]),
  ],
  'Observation-lastn': (m) => [
    m.random.chance(0.5) ? ['subject', patient(m)] : ['_id', idsOfType('Observation').join()],
    ...maybe(m.random, 0.3, ['code', found(m, 'Observation', 'code')]),
    ...maybe(m.random, 0.3, ['subject:Patient.family:missing', 'false']),
    ...maybe(m.random, 0.5, ['max', m.random.pick([1, 2])]),
  ],
  'Observation-stats': (m) => [
    ['subject', patient(m)],
    ['system', 'http://codes.example'],
    ...Array.from({ length: 8 }, () => ['code', found(m, 'Observation', 'code').replace(/^.*\|/, '')] as const),
    ...['count', 'maximum', 'average', 'total-count'].map((each) => ['statistic', each] as const),
    ...maybe(m.random, 0.5, ['include', true]),
  ],
  'DocumentReference-docref': (m) => [
    ['patient', patient(m).slice('Patient/'.length)],
    ...maybe(m.random, 0.3, ['start', '2024-03-01']),
  ],
  'sql-run': (m, type) => [
    ...subjectOf(m, type),
    ...maybe(m.random, 0.3, ['_format', m.random.pick(['csv', 'json', 'fhir'])]),
    ...maybe(m.random, 0.3, ['_limit', m.random.pick([1, 3])]),
    ...maybe(m.random, 0.2, ['_since', '2024-03-01T00:00:00Z']),
  ],
  'sql-export': (m, type) => [
    ['subject', [storedView(m)]],
    ...maybe(m.random, 0.5, ['subject', [['subjectResource', viewOf(m, type)]]]),
    ...maybe(m.random, 0.2, ['_since', '2024-03-01T00:00:00Z']),
  ],
  'generate-metadata': (m) => [['document', documentAbout(patient(m))]],
  'List-find': (m) => [
    ['patient', patient(m)],
    ['name', 'current-problems'],
  ],
  'Resource-graph': (m) => [['graph', found(m, 'GraphDefinition', 'url')]],
  'Resource-validate': (m, type) => [
    ['resource', m.content(type)],
    ...maybe(m.random, 0.1, ['mode', m.random.pick(['create', 'update', 'delete'])]),
    ...maybe(m.random, 0.5, ['profile', m.random.pick(PROFILES.filter((each) => each.type === type || each.type === 'Patient')).url]), // prettier-ignore
  ],
  diff: (m, type) => [
    ['from', `${type}/${m.random.pick(idsOfType(type))}`],
    ['to', `${type}/${m.random.pick(idsOfType(type))}`],
  ],
  expunge: ({ random }) => [
    ...maybe(random, 0.5, ['expungeDeletedResources', true]),
    ...maybe(random, 0.7, ['expungePreviousVersions', true]),
    ...maybe(random, 0.3, ['limit', 1]),
  ],
  reindex: (m) => [
    ...maybe(m.random, 0.8, ['url', filter(m)]),
    ...maybe(m.random, 0.2, ['reindexSearchParameters', 'NONE']),
  ],
  'instance-reindex': () => [],
  'reindex-dryrun': () => [],
  export: exporting,
  'patient-export': exporting,
  'group-export': exporting,
  import: ({ random, known }) => [['input', [['url', UPLOADED], ...maybe(random, 0.4, ['type', random.pick(known)])]]],
  'bulk-delete': (m) => [['url', filter(m)], ...maybe(m.random, 0.5, ['dryRun', true])],
  'bulk-patch': (m) => [['url', filter(m)], ['patch', LANGUAGE], ...maybe(m.random, 0.5, ['dryRun', true])],
  'bulk-publish': () => [],
  'bulk-submit': (m, type) => [
    ...submitted(m, type),
    ['submissionStatus', { code: m.random.pick(['in-progress', 'completed', 'stopped']) }],
  ],
  'bulk-submit-status': submitted,
  'bulk-submit-poll-status': ({ random }) => [['_submission', someJob(random)]],
  'bulk-undo': job,
  'async-poll-status': job,
  'async-result': job,
  'export-poll-status': job,
  'sql-export-poll-status': job,
  'import-poll-status': job,
  'Subscription-status': ({ random }) => [
    ...maybe(random, 0.3, ['id', random.pick(idsOfType('Subscription'))]),
    ...maybe(random, 0.3, ['status', random.pick(['active', 'off'])]),
  ],
  'Subscription-events': ({ random }) => [
    ...maybe(random, 0.5, ['content', random.pick(['empty', 'id-only', 'full-resource'])]),
    ...maybe(random, 0.3, ['eventsSinceNumber', String(random.below(40))]),
    ...maybe(random, 0.3, ['eventsUntilNumber', String(40 + random.below(40))]),
  ],
  changes: (m) => [
    ...maybe(m.random, 0.8, ['_since', `@${m.random.below(100)}@`]),
    ...maybe(m.random, 0.4, ['_type', types(m)]),
    ...maybe(m.random, 0.4, ['_count', m.random.pick([1, 3, 50])]),
  ],
  'reindex-status': (m, type) => [...job(m, type), ...maybe(m.random, 0.5, ['_return', 'report'])],
};

/**
 * Routes that are asked. `$expunge` of the whole store is an administrator's: by decision it removes and counts what the client does
 * not see. A pass of reindexing waits for jobs, which go on here only between two requests.
 */
export const ASKED_ROUTES = tables.routes.filter(
  ({ path }) => path !== '$expunge' && path !== '$perform-reindexing-pass',
);

/** Routes of these operations; by GET no resource can be sent that shall be validated. */
const ROUTES = ASKED_ROUTES.filter(
  ({ operation = '', method, path }) => operation in ARGUMENTS && !(method === 'GET' && path === '[type]/$validate'),
);

/**
 * A route of an operation whose answer tells of what there is: each of them as often as the others.
 *
 * @param known as of a Making: others are mostly refused
 */
export function operationRoute({ pick, chance }: Random, known: readonly string[]): RouteRow {
  const isRefused = ({ path }: RouteRow): boolean => /^[A-Z]/.test(path) && !known.includes(path.split('/')[0]!);
  const routes = ROUTES.filter((row) => !isRefused(row) || chance(0.1));
  const operation = pick([...new Set(routes.map((row) => row.operation))]);
  return pick(routes.filter((row) => row.operation === operation));
}

/** What an operation is called with. */
export interface OperationCall {
  readonly query?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Lines that `UPLOADED` stands for. */
  readonly upload?: string;
}

/** Makes what an operation is called with. */
export function operationCall({ method, operation = '', path }: RouteRow, type: string, making: Making): OperationCall {
  const all = ARGUMENTS[operation]?.(making, type) ?? [];
  const isOfInstance = path.includes('[id]');
  const own = tables.operations.find(({ id }) => id === operation)!.parameters.filter(({ use }) => use === 'in');
  // What is validated is in the URL, or in the body.
  const given = all.filter(([name]) => !(isOfInstance && operation === 'Resource-validate' && name === 'resource'));
  const headers = /export$|^import$|^reindex$|^bulk-/.test(operation) ? ASYNC : {};
  if (method !== 'POST') {
    const query = new URLSearchParams(given.flatMap(([name, each]): [string, string][] => (typeof each === 'object' ? [] : [[name, String(each)]]))); // prettier-ignore
    return { query: String(query), headers };
  }
  const parameter = given.map((each) => parameterOf(each, own));
  const body = JSON.stringify({ resourceType: 'Parameters', ...(parameter.length > 0 && { parameter }) });
  return { body, headers, ...(body.includes(UPLOADED) && { upload: linesOf(making) }) };
}

interface ParameterRow {
  readonly name: string;
  readonly type?: string;
  readonly parts?: readonly ParameterRow[];
}

function parameterOf([name, value]: Argument, rows: readonly ParameterRow[]): object {
  const row = rows.find((each) => each.name === name);
  if (Array.isArray(value)) {
    return { name, part: (value as readonly Argument[]).map((each) => parameterOf(each, row?.parts ?? [])) };
  }
  if (typeof value === 'object' && 'reference' in value) return { name, valueReference: value };
  const { type = 'string' } = row ?? {};
  if (type === 'Identifier' || type === 'Coding') return { name, [`value${type}`]: value };
  if (typeof value === 'object') return { name, resource: value };
  const field = type === 'code' || /^[a-z]/.test(type) ? type : 'string';
  return { name, [`value${field[0]!.toUpperCase()}${field.slice(1)}`]: value };
}

/** A patient that may be one of those that are there. */
function wanted(making: Making): object {
  const [family, given, birthDate, identifier] = ['family', 'given', 'birthdate', 'identifier'].map((param) => found(making, 'Patient', param)); // prettier-ignore
  const [system, value] = identifier!.split('|');
  return {
    resourceType: 'Patient',
    ...(making.random.chance(0.6) && { identifier: [{ system, value }] }),
    name: [{ family, given: [given] }],
    birthDate,
  };
}

/** Lines of resources, most of them of types that the client may import, some of them no resources. */
function linesOf({ random, known, content }: Making): string {
  const lines = Array.from({ length: 1 + random.below(5) }, () => {
    const type = random.pick(known);
    return random.chance(0.1) ? '{}' : JSON.stringify(content(type, random.pick(idsOfType(type))));
  });
  return lines.join('\n');
}
