/**
 * What CapabilityStatements of exchange guides ask of servers, without what they say about themselves: IHE MHD 5.1.0 (ITI-65, 66, 67, 68) and
 * the HL7 Europe Health Data API with International Patient Access.
 */
type Row = readonly [type: string, ...parameters: readonly string[]];

const EXPECTATION = 'http://hl7.org/fhir/StructureDefinition/capabilitystatement-expectation';
const MHD = 'https://profiles.ihe.net/ITI/MHD';

/** Search parameters of MHD, which read extensions. */
export const MHD_PARAMETERS = [
  ['designationType', 'List-DesignationType', 'ihe-designationType', 'CodeableConcept'],
  ['sourceId', 'List-SourceId', 'ihe-sourceId', 'Identifier'],
].map(([code, id, extension, type]) => ({
  ...{ resourceType: 'SearchParameter', url: `${MHD}/SearchParameter/${id}`, name: code, status: 'active' },
  ...{ description: code, code, base: ['List'], type: 'token', processingMode: 'normal' },
  expression: `(extension('${MHD}/StructureDefinition/${extension}').value.ofType(${type}))`,
}));

/** Types whose searches find documents and submission sets; Binary is read. */
const DOCUMENTS: readonly Row[] = [
  [
    'DocumentReference',
    ...['_id', '_lastUpdated', 'author.given', 'author.family', 'category', 'creation', 'date', 'event-reference'],
    ...['facility', 'format', 'identifier', 'patient', 'patient.identifier', 'period', 'related', 'relatesto'],
    ...['security-label', 'setting', 'status', 'type'],
  ],
  [
    'List',
    ...['_id', '_lastUpdated', 'code', 'date', 'identifier', 'patient', 'patient.identifier', 'source.given'],
    ...['source.family', 'status', 'designationType', 'sourceId'],
  ],
  ['Binary'],
];

/** Types of clinical data: what SHALL be searched by, and behind `|` what SHOULD. */
const CLINICAL: readonly Row[] = [
  ['Patient', '_id', 'identifier', '|', 'family', 'given', 'birthdate', 'gender', 'name'],
  ['AllergyIntolerance', 'patient', '|', 'clinical-status'],
  ['Condition', 'patient', '|', 'clinical-status', 'category', 'code', 'onset-date'],
  ['Observation', 'patient', 'category', '|', 'code', 'date', 'status'],
  ['DiagnosticReport', 'patient', 'category', '|', 'code', 'date', 'status'],
  ['MedicationRequest', 'patient', '|', 'status', 'intent', 'authoredon'],
  ['MedicationStatement', 'patient', '|', 'status', 'effective'],
  ['MedicationDispense', 'patient', '|', 'status', 'whenhandedover'],
  ['Immunization', 'patient', '|', 'date', 'status'],
  ['Encounter', 'patient', '|', 'date', 'status', 'class'],
  ...['Practitioner', 'Organization', 'PractitionerRole', 'Medication'].map((type): Row => [type]),
];

/** The statements, by the name of the actor in the setting `profiles.actors`. */
export const STATEMENTS: Readonly<Record<string, object>> = {
  'document-responder': statement({ interaction: [{ code: 'search-system' }], resource: DOCUMENTS.map(resourceOf) }),
  'document-recipient': statement({ interaction: [{ code: 'transaction' }] }),
  'resource-access-provider': statement({ resource: CLINICAL.map(resourceOf) }),
};

function statement(rest: object): object {
  return {
    ...{ resourceType: 'CapabilityStatement', status: 'active', kind: 'requirements', fhirVersion: '5.0.0' },
    format: ['application/fhir+json', 'application/fhir+xml'],
    rest: [{ mode: 'server', ...rest }],
  };
}

function resourceOf([type, ...parameters]: Row): object {
  const split = parameters.indexOf('|');
  const searchParam = parameters.flatMap((name, i) => {
    const isWeak = split >= 0 && i > split;
    const definition = MHD_PARAMETERS.find(({ code }) => code === name)?.url;
    if (name === '|') return [];
    return [{ name, ...(definition !== undefined && { definition }), ...(isWeak && asked('SHOULD')) }];
  });
  const codes = parameters.length === 0 ? ['read'] : ['read', 'search-type'];
  return { type, interaction: codes.map((code) => ({ code })), searchParam };
}

function asked(valueCode: string): object {
  return { extension: [{ url: EXPECTATION, valueCode }] };
}
