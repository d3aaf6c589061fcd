import type { JsonObject, Resource } from '../../../runtime/fhir/resource.js';

const LOINC = 'http://loinc.org';
const SNOMED = 'http://snomed.info/sct';
const SYNTHEA = 'https://github.com/synthetichealth/synthea';
const NPI = 'http://hl7.org/fhir/sid/us-npi';

/** Practitioners, organizations and locations that Bundles refer to by their identifiers. */
const HUBS = 40;

/** How many of each a patient has to do with. */
const SEEN = 5;

/** Encounters come with so many entries; of which most are observations. */
const SIZES = [300, 500, 800, 1500];

/** Random numbers from 0 to 1, always the same (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** What has to be there before the Bundles come. */
export function hubs(): Resource[] {
  return Array.from({ length: HUBS }, (_, n) => [
    {
      resourceType: 'Practitioner',
      id: `practitioner-${n}`,
      identifier: [{ system: NPI, value: npi(n) }],
      name: [{ family: `Doctor${n}` }],
    },
    {
      resourceType: 'Organization',
      id: `organization-${n}`,
      identifier: [{ system: SYNTHEA, value: `org-${n}` }],
      name: `Clinic ${n}`,
    },
    {
      resourceType: 'Location',
      id: `location-${n}`,
      identifier: [{ system: SYNTHEA, value: `loc-${n}` }],
      name: `Ward ${n}`,
    },
  ]).flat();
}

/** Transactions of the shape that Synthea writes: one patient each, with 300 to 1,500 entries. */
export function syntheaBundles(count: number, seed = 1): { readonly text: string; readonly entries: number }[] {
  const next = random(seed);
  return Array.from({ length: count }, (_, n) => {
    const entries = patientRecord(SIZES[n % SIZES.length] ?? 300, next);
    return {
      text: JSON.stringify({ resourceType: 'Bundle', type: 'transaction', entry: entries }),
      entries: entries.length,
    };
  });
}

function patientRecord(size: number, next: () => number): JsonObject[] {
  const entries: JsonObject[] = [];
  const uuid = (): string => {
    const hex = Array.from({ length: 32 }, () => Math.floor(next() * 16).toString(16)).join('');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  // A patient sees few of them, again and again.
  const known = Array.from({ length: SEEN }, () => Math.floor(next() * HUBS));
  const any = (): number => known[Math.floor(next() * SEEN)] ?? 0;
  const add = (resource: Resource): JsonObject => {
    const id = uuid();
    const fullUrl = `urn:uuid:${id}`;
    entries.push({ fullUrl, resource: { ...resource, id }, request: { method: 'POST', url: resource.resourceType } });
    return { reference: fullUrl };
  };
  const practitioner = (): JsonObject => ({
    reference: `Practitioner?identifier=${NPI}|${npi(any())}`,
    display: 'Dr. Kiln',
  });
  const organization = (): JsonObject => ({
    reference: `Organization?identifier=${SYNTHEA}|org-${any()}`,
    display: 'Clinic',
  });
  const location = (): JsonObject => ({ reference: `Location?identifier=${SYNTHEA}|loc-${any()}`, display: 'Ward' });

  const subject = add(patient(uuid(), Math.floor(next() * 1e6)));
  const made: JsonObject[] = [subject];
  let day = Date.UTC(2001, 0, 1) + Math.floor(next() * 1e11);
  while (entries.length < size - 1) {
    day += Math.floor(next() * 4e9);
    const from = instant(day);
    const to = instant(day + 1_800_000);
    const encounter = add({
      resourceType: 'Encounter',
      identifier: [{ use: 'official', system: SYNTHEA, value: uuid() }],
      status: 'completed',
      class: [concept('http://terminology.hl7.org/CodeSystem/v3-ActCode', 'AMB', 'ambulatory')],
      type: [concept(SNOMED, '162673000', 'General examination of patient (procedure)')],
      subject,
      participant: [{ period: { start: from, end: to }, actor: practitioner() }],
      actualPeriod: { start: from, end: to },
      location: [{ location: location() }],
      serviceProvider: organization(),
    });
    const results: JsonObject[] = [];
    const observations = 6 + Math.floor(next() * 10);
    for (let n = 0; n < observations && entries.length < size - 1; n++) {
      results.push(add(observation(subject, encounter, from, n, Math.round(next() * 1e4) / 100)));
    }
    made.push(encounter, ...results);
    const others: Resource[] = [
      {
        resourceType: 'Condition',
        clinicalStatus: concept('http://terminology.hl7.org/CodeSystem/condition-clinical', 'active'),
        verificationStatus: concept('http://terminology.hl7.org/CodeSystem/condition-ver-status', 'confirmed'),
        category: [
          concept(
            'http://terminology.hl7.org/CodeSystem/condition-category',
            'encounter-diagnosis',
            'Encounter Diagnosis',
          ),
        ],
        code: concept(SNOMED, '160903007', 'Full-time employment (finding)'),
        subject,
        encounter,
        onsetDateTime: from,
        recordedDate: from,
      },
      {
        resourceType: 'Procedure',
        status: 'completed',
        code: concept(SNOMED, '430193006', 'Medication Reconciliation (procedure)'),
        subject,
        encounter,
        occurrencePeriod: { start: from, end: to },
        location: location(),
      },
      {
        resourceType: 'DiagnosticReport',
        status: 'final',
        category: [concept(LOINC, '34117-2', 'History and physical note')],
        code: concept(LOINC, '34117-2', 'History and physical note'),
        subject,
        encounter,
        effectiveDateTime: from,
        issued: from,
        performer: [practitioner()],
        result: results,
        presentedForm: [
          { contentType: 'text/plain', data: Buffer.from('Chief complaint. '.repeat(20)).toString('base64') },
        ],
      },
      {
        resourceType: 'MedicationRequest',
        status: 'stopped',
        intent: 'order',
        medication: {
          concept: concept('http://www.nlm.nih.gov/research/umls/rxnorm', '313782', 'Acetaminophen 325 MG Oral Tablet'),
        },
        subject,
        encounter,
        authoredOn: from,
        requester: practitioner(),
        dosageInstruction: [
          { sequence: 1, timing: { repeat: { frequency: 1, period: 1, periodUnit: 'd' } }, asNeeded: false },
        ],
      },
      {
        resourceType: 'Claim',
        status: 'active',
        type: concept('http://terminology.hl7.org/CodeSystem/claim-type', 'institutional'),
        use: 'claim',
        patient: subject,
        billablePeriod: { start: from, end: to },
        created: to,
        provider: organization(),
        priority: concept('http://terminology.hl7.org/CodeSystem/processpriority', 'normal'),
        facility: location(),
        item: [
          {
            sequence: 1,
            productOrService: concept(SNOMED, '162673000', 'General examination of patient (procedure)'),
            encounter: [encounter],
            net: { value: 129.16, currency: 'USD' },
          },
        ],
        total: { value: 129.16, currency: 'USD' },
      },
    ];
    for (const other of others) if (entries.length < size - 1) made.push(add(other));
  }
  add({
    resourceType: 'Provenance',
    target: made,
    recorded: instant(day),
    agent: [
      {
        type: concept('http://terminology.hl7.org/CodeSystem/provenance-participant-type', 'author'),
        who: practitioner(),
        onBehalfOf: organization(),
      },
    ],
  });
  return entries;
}

function patient(mrn: string, n: number): Resource {
  return {
    resourceType: 'Patient',
    text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">Generated by a generator</div>' },
    extension: [
      { url: 'http://hl7.org/fhir/us/core/StructureDefinition/us-core-birthsex', valueCode: 'F' },
      { url: 'http://hl7.org/fhir/StructureDefinition/patient-mothersMaidenName', valueString: `Crooks${n}` },
    ],
    identifier: [
      { system: SYNTHEA, value: mrn },
      {
        type: concept('http://terminology.hl7.org/CodeSystem/v2-0203', 'SS', 'Social Security Number'),
        system: 'http://hl7.org/fhir/sid/us-ssn',
        value: `999-${n}`,
      },
    ],
    name: [{ use: 'official', family: `Runolfsson${n}`, given: [`Ágatha${n}`, 'María'], prefix: ['Mrs.'] }],
    telecom: [{ system: 'phone', value: `555-${n}`, use: 'home' }],
    gender: 'female',
    birthDate: '1983-05-24',
    address: [
      { line: [`${n} Kessler Trailer Unit 43`], city: 'Worcester', state: 'MA', postalCode: '01545', country: 'US' },
    ],
    multipleBirthBoolean: false,
  };
}

function observation(subject: JsonObject, encounter: JsonObject, time: string, n: number, value: number): Resource {
  return {
    resourceType: 'Observation',
    status: 'final',
    category: [concept('http://terminology.hl7.org/CodeSystem/observation-category', 'vital-signs', 'vital-signs')],
    code: concept(LOINC, `8302-${n}`, 'Body Height'),
    subject,
    encounter,
    effectiveDateTime: time,
    issued: time,
    valueQuantity: { value, unit: 'cm', system: 'http://unitsofmeasure.org', code: 'cm' },
  };
}

function concept(system: string, code: string, display?: string): JsonObject {
  return display === undefined
    ? { coding: [{ system, code }] }
    : { coding: [{ system, code, display }], text: display };
}

function instant(time: number): string {
  return new Date(time).toISOString();
}

function npi(n: number): string {
  return String(9_999_900_000 + n);
}
