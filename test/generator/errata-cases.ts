import {
  compartments,
  component,
  levels,
  parameterNames,
  paths,
  searchedAs,
  under,
  urls,
  type ErratumCase,
  type Row,
} from './facts/errata-questions.js';

const core = 'hl7.fhir.r5.core';
const expansions = 'hl7.fhir.r5.expansions';

const ZONELESS = ['2024-05-01T10:00:00', '2024-05-01T10:00:00.5', '2024-05Z', '2024-05-01+', '2024-05-01T10:00:00-'];
const ZONED = ['2024', '2024-05-01', '2024-05-01T10:00:00Z', '2024-05-01T10:00:00.123456789-03:30'];

const searchParameters: readonly Row[] = [
  ['example', undefined, 'what is Resource?_id', urls('Resource', '_id'), ['Resource-id', 'example'], ['Resource-id']],
  [
    'example-extension',
    undefined,
    'does Patient have a parameter that only the documentation knows',
    urls('Patient', 'part-agree'),
    ['example-extension'],
    [],
  ],
  [
    'example-reference',
    undefined,
    'what may Condition?subject point to',
    (made) => made.parameters('Condition', 'subject').map(({ targets }) => targets),
    [['Group', 'Patient'], ['Organization']],
    [['Group', 'Patient']],
  ],
  [
    'example-constraint',
    undefined,
    'does Bundle have a parameter that only the documentation knows',
    urls('Bundle', 'example-constraint'),
    ['example-constraint'],
    [],
  ],
  [
    'filter',
    undefined,
    'what is Resource?_filter',
    urls('Resource', '_filter'),
    ['Resource-filter', 'filter'],
    ['Resource-filter'],
  ],
  [
    'Device-serial-number',
    '/expression',
    'where is Device?serial-number',
    paths('Device', 'serial-number'),
    'http://hl7.org/fhir/SearchParameter/Device-serial-number: Device: ' +
      `Device.identifier.where(type='SNO'): a CodeableConcept never equals "SNO"`,
    [['Device.serialNumber', "Device.identifier.where(type.coding.where(code='SNO').exists()).value"]],
  ],
  [
    'Device-code-value-concept',
    '/expression',
    'where is Device?code-value-concept',
    paths('Device', 'code-value-concept'),
    'http://hl7.org/fhir/SearchParameter/Device-code-value-concept: Device: ' +
      'specification.ofType(CodeableConcept): Device has no element specification',
    [['Device.conformsTo']],
  ],
  [
    'Composition-section-code-text',
    '/component/0/expression',
    'where is the code of a section of a Composition',
    component('Composition', 'section-code-text', 0),
    [{ get: 'section' }, { get: 'code' }],
    [{ get: 'code' }],
  ],
  [
    'Composition-section-code-text',
    '/component/1/expression',
    'where is the text of a section of a Composition',
    component('Composition', 'section-code-text', 1),
    [{ get: 'section' }, { get: 'text' }],
    [{ get: 'text' }],
  ],
  [
    'DocumentReference-relationship',
    '/component/0/definition',
    'how is the code of DocumentReference?relationship searched',
    searchedAs('DocumentReference', 'relationship', 0),
    ['relatesto', 'reference'],
    ['relation', 'token'],
  ],
  [
    'DocumentReference-relationship',
    '/component/1/definition',
    'how is the target of DocumentReference?relationship searched',
    searchedAs('DocumentReference', 'relationship', 1),
    ['relation', 'token'],
    ['relatesto', 'reference'],
  ],
  [
    'Encounter-location-period',
    '/component/0/expression',
    'where is the location of Encounter?location-period',
    component('Encounter', 'location-period', 0),
    [{ get: 'location' }, { get: 'reference' }],
    [{ get: 'location' }],
  ],
  ['clinical-date', '/expression', 'where is CareTeam?date', paths('CareTeam', 'date'), [[]], [['CareTeam.period']]],
  [
    'MetadataResource-topic',
    '/base/4',
    'where is EvidenceVariable?topic',
    paths('EvidenceVariable', 'topic'),
    [[]],
    [],
  ],
  [
    'Observation-value-markdown',
    '/expression',
    'where is Observation?value-markdown',
    paths('Observation', 'value-markdown'),
    'http://hl7.org/fhir/SearchParameter/Observation-value-markdown: Observation: ' +
      'Observation.value.ofType(markdown): Observation.value[x] cannot be a markdown',
    [['Observation.value.ofType(CodeableConcept).text']],
  ],
  [
    'Observation-value-canonical',
    '/base/0',
    'does Observation have value-canonical',
    urls('Observation', 'value-canonical'),
    'http://hl7.org/fhir/SearchParameter/Observation-value-canonical: Observation: ' +
      'Observation.value.ofType(canonical): Observation.value[x] cannot be a canonical',
    [],
  ],
  [
    'Observation-component-value-canonical',
    '/base/0',
    'does Observation have component-value-canonical',
    urls('Observation', 'component-value-canonical'),
    'http://hl7.org/fhir/SearchParameter/Observation-component-value-canonical: Observation: ' +
      'Observation.component.value.ofType(canonical): Observation.component.value[x] cannot be a canonical',
    [],
  ],
  [
    'ImagingStudy-reason',
    '/expression',
    'where is ImagingStudy?reason',
    paths('ImagingStudy', 'reason'),
    [[]],
    [['ImagingStudy.reason.concept']],
  ],
  [
    'Medication-form',
    '/expression',
    'where is Medication?form',
    paths('Medication', 'form'),
    [[]],
    [['Medication.doseForm']],
  ],
  [
    'MedicationKnowledge-packaging-cost',
    '/expression',
    'where is MedicationKnowledge?packaging-cost',
    paths('MedicationKnowledge', 'packaging-cost'),
    [[]],
    [['MedicationKnowledge.packaging.cost.cost.ofType(Money)']],
  ],
  [
    'MedicationKnowledge-packaging-cost-concept',
    '/expression',
    'where is MedicationKnowledge?packaging-cost-concept',
    paths('MedicationKnowledge', 'packaging-cost-concept'),
    [[]],
    [['MedicationKnowledge.packaging.cost.cost.ofType(CodeableConcept)']],
  ],
];

const operations: readonly Row[] = [
  [
    'example',
    undefined,
    'is there an operation that only the documentation knows',
    levels('example'),
    ['instance'],
    undefined,
  ],
  [
    'example-query-high-risk',
    undefined,
    'is there a query that only the documentation knows',
    levels('example-query-high-risk'),
    ['type'],
    undefined,
  ],
  [
    'Resource-meta',
    '/extension/2',
    'where may $meta be called',
    levels('Resource-meta'),
    ['system', 'type', 'instance'],
    ['system', 'type', 'instance', 'version'],
  ],
  [
    'Resource-meta-add',
    '/extension/2',
    'where may $meta-add be called',
    levels('Resource-meta-add'),
    ['instance'],
    ['instance', 'version'],
  ],
  [
    'Resource-meta-delete',
    '/extension/2',
    'where may $meta-delete be called',
    levels('Resource-meta-delete'),
    ['instance'],
    ['instance', 'version'],
  ],
  [
    'ConceptMap-closure',
    '/type',
    'where may $closure be called',
    levels('ConceptMap-closure'),
    ['system'],
    ['system', 'type'],
  ],
  [
    'Resource-graphql',
    '/type',
    'where may $graphql be called',
    levels('Resource-graphql'),
    ['system', 'instance'],
    ['system', 'type', 'instance'],
  ],
  [
    'Resource-graphql',
    '/parameter/2',
    'which parameters has $graphql',
    parameterNames('Resource-graphql'),
    ['query', 'operationName'],
    ['query', 'variables', 'operationName'],
  ],
  [
    'Resource-graphql',
    '/parameter/3',
    'which parameters has $graphql',
    parameterNames('Resource-graphql'),
    ['query', 'variables'],
    ['query', 'variables', 'operationName'],
  ],
  [
    'DocumentReference-docref',
    '/affectsState',
    'how may $docref be called',
    (made) => made.operation('DocumentReference-docref')?.methods,
    ['POST'],
    ['GET', 'POST'],
  ],
];

const PATTERN = '/snapshot/element/3/type/0/extension/1/valueString';
const primitives: readonly Row[] = [
  [
    'decimal',
    PATTERN,
    'is 1e5 a decimal',
    (made) => made.accepted('decimal', ['1e5', '-1.50E-3', '0.10', '1e']),
    'no regular expression',
    ['1e5', '-1.50E-3', '0.10'],
  ],
  [
    'dateTime',
    PATTERN,
    'may a time be without a zone, or a zone without a time',
    (made) => made.accepted('dateTime', [...ZONELESS, ...ZONED]),
    [...ZONELESS, ...ZONED],
    ZONED,
  ],
];

/** Nested concepts without hierarchyMeaning. */
const nested: readonly Row[] = (
  [
    ['publishablecodesystem', '/snapshot/element/0/constraint/5/severity', 'snapshot'],
    ['shareablecodesystem', '/snapshot/element/0/constraint/5/severity', 'snapshot'],
    ['shareablecodesystem', '/differential/element/0/constraint/0/severity', 'differential'],
  ] as const
).map(([name, path, form]) => [
  name,
  path,
  `how severe is scs-1 in the ${form}`,
  (made) => made.severity(name, 'scs-1', form),
  'error',
  'warning',
]);

/** A code that a required binding to the value set should let pass. */
const valueSets: readonly (readonly [string, string])[] = [
  ['currencies', 'XCG'],
  ['timezones', 'America/Ciudad_Juarez'],
  ['country', 'XK'],
];

/** Errata of R5. */
export const errataCases: readonly ErratumCase[] = [
  ...under(core, 'SearchParameter', searchParameters),
  ...under(core, 'OperationDefinition', operations),
  ...under(core, 'CompartmentDefinition', [
    [
      'example',
      undefined,
      'what is the compartment of a Device',
      compartments('Device'),
      [
        ['device', 30],
        ['example', 2],
      ],
      [['device', 30]],
    ],
  ]),
  ...under(core, 'StructureDefinition', [...primitives, ...nested]),
  ...under(
    expansions,
    'ValueSet',
    valueSets.map(([name, code]) => [
      name,
      undefined,
      `is ${code} refused`,
      (made) => !made.admits(`http://hl7.org/fhir/ValueSet/${name}`, code),
      true,
      false,
    ]),
  ),
];
