import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Bundles in the shape of those of Synthea (made here, with none of its data): a file for hospitals and one for practitioners, which patients refer
 * to by criteria, and a transaction for each patient whose resources refer to each other by `urn:uuid:`.
 */
export type Release = 'R4' | 'R5';

/** Resources of a patient, by type. */
export const PER_PATIENT = { Patient: 1, Encounter: 3, Condition: 3, Observation: 12, MedicationRequest: 3, Procedure: 3 } as const; // prettier-ignore

const ORGANIZATIONS = 2;
const PRACTITIONERS = 4;
const NPI = 'http://hl7.org/fhir/sid/us-npi';
const SYNTHEA = 'https://github.com/synthetichealth/synthea';

type Json = Readonly<Record<string, unknown>>;

/** Writes the files into a folder. @returns how many resources of each type they have */
export function writeSynthea(folder: string, patients: number, release: Release): Record<string, number> {
  mkdirSync(folder, { recursive: true });
  const write = (name: string, bundle: Json): void =>
    writeFileSync(join(folder, name), JSON.stringify(bundle, undefined, 2));
  write(
    '0-hospitals.json',
    shared('Organization', ORGANIZATIONS, (i) => ({ active: true, name: `Hospital ${i}` })),
  );
  write(
    '1-practitioners.json',
    shared('Practitioner', PRACTITIONERS, (i) => ({ name: [{ family: `Doctor${i}` }] })),
  );
  for (let i = 0; i < patients; i++) write(`2-patient-${String(i).padStart(5, '0')}.json`, ofPatient(i, release));
  const each = Object.entries(PER_PATIENT).map(([type, count]) => [type, count * patients] as const);
  return { Organization: ORGANIZATIONS, Practitioner: PRACTITIONERS, ...Object.fromEntries(each) };
}

/** The same each time: loaded again, nothing is made anew. */
function uuid(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function shared(type: string, count: number, content: (i: number) => Json): Json {
  return {
    resourceType: 'Bundle',
    type: 'transaction',
    entry: Array.from({ length: count }, (_, i) => {
      const value = `${type.length}99999${i}`;
      return {
        fullUrl: `urn:uuid:${uuid(`${type}${i}`)}`,
        resource: { resourceType: type, identifier: [{ system: NPI, value }], ...content(i) },
        request: { method: 'POST', url: type, ifNoneExist: `identifier=${NPI}|${value}` },
      };
    }),
  };
}

function ofPatient(n: number, release: Release): Json {
  const urn = (type: string, i = 0): string => `urn:uuid:${uuid(`${n}/${type}/${i}`)}`;
  const code = (system: string, value: string, display: string): Json => ({
    coding: [{ system, code: value, display }],
    text: display,
  });
  const day = (i: number): string => `2024-0${1 + (i % 9)}-1${i % 9}T09:00:00-05:00`;
  const subject = { reference: urn('Patient') };
  const ofEncounter = (i: number): Json => ({ subject, encounter: { reference: urn('Encounter', i % 3) } });
  const doctor = { reference: `Practitioner?identifier=${NPI}|1299999${n % PRACTITIONERS}`, display: 'Doctor' };
  const hospital = { reference: `Organization?identifier=${NPI}|1299999${n % ORGANIZATIONS}`, display: 'Hospital' };
  const encounter = (i: number): Json => {
    const period = { start: day(i), end: day(i) };
    const type = [code('http://snomed.info/sct', '162673000', 'General examination of patient (procedure)')];
    const coded = { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' };
    const common = { type, subject, serviceProvider: hospital };
    return release === 'R4'
      ? { status: 'finished', class: coded, ...common, participant: [{ period, individual: doctor }], period }
      : { status: 'completed', class: [{ coding: [coded] }], ...common, participant: [{ period, actor: doctor }], actualPeriod: period }; // prettier-ignore
  };
  const medication = code('http://www.nlm.nih.gov/research/umls/rxnorm', '314076', 'lisinopril 10 MG Oral Tablet');
  const contents: Readonly<Record<keyof typeof PER_PATIENT, (i: number) => Json>> = {
    Patient: () => ({
      identifier: [{ system: SYNTHEA, value: uuid(`patient${n}`) }],
      name: [{ use: 'official', family: `Family${n}`, given: [`Given${n % 50}`] }],
      gender: n % 2 === 0 ? 'female' : 'male',
      birthDate: `19${10 + (n % 90)}-03-04`,
    }),
    Encounter: encounter,
    Condition: (i) => ({
      clinicalStatus: code('http://terminology.hl7.org/CodeSystem/condition-clinical', 'active', 'Active'),
      code: code('http://snomed.info/sct', '44054006', 'Diabetes'),
      ...ofEncounter(i),
      onsetDateTime: day(i),
    }),
    Observation: (i) => ({
      status: 'final',
      code: code('http://loinc.org', i % 2 === 0 ? '8302-2' : '29463-7', i % 2 === 0 ? 'Body Height' : 'Body Weight'),
      ...ofEncounter(i),
      effectiveDateTime: day(i),
      valueQuantity: { value: 60 + i, unit: 'kg', system: 'http://unitsofmeasure.org', code: 'kg' },
    }),
    MedicationRequest: (i) => ({
      status: 'active',
      intent: 'order',
      ...(release === 'R4' ? { medicationCodeableConcept: medication } : { medication: { concept: medication } }),
      ...ofEncounter(i),
      authoredOn: day(i),
      requester: doctor,
    }),
    Procedure: (i) => ({
      status: 'completed',
      code: code('http://snomed.info/sct', '430193006', 'Medication reconciliation (procedure)'),
      ...ofEncounter(i),
      ...(release === 'R4' ? { performedDateTime: day(i) } : { occurrenceDateTime: day(i) }),
    }),
  };
  const entry = Object.entries(PER_PATIENT).flatMap(([type, count]) =>
    Array.from({ length: count }, (_, i) => ({
      fullUrl: urn(type, i),
      resource: { resourceType: type, ...contents[type as keyof typeof PER_PATIENT](i) },
      request:
        type === 'Patient'
          ? { method: 'POST', url: type, ifNoneExist: `identifier=${SYNTHEA}|${uuid(`patient${n}`)}` }
          : { method: 'POST', url: type },
    })),
  );
  return { resourceType: 'Bundle', type: 'transaction', entry };
}
