import type { Resource } from '../../../runtime/fhir/resource.js';

/** What one patient has of each type, as in a record of some years. */
const EACH = { Encounter: 6, Condition: 6, MedicationRequest: 8, Observation: 40 };
const PER_PATIENT = 1 + EACH.Encounter + EACH.Condition + EACH.MedicationRequest + EACH.Observation;

const LOINC = 'http://loinc.org';
const UCUM = 'http://unitsofmeasure.org';
const SNOMED = 'http://snomed.info/sct';
const CATEGORY = 'http://terminology.hl7.org/CodeSystem/observation-category';
const MRN = 'http://clinic.example/mrn';

/** What is measured, in which unit, and between what. */
const MEASURES = [
  ['8867-4', 'Heart rate', '/min', 45, 140],
  ['8310-5', 'Body temperature', 'Cel', 35, 41],
  ['29463-7', 'Body weight', 'kg', 40, 140],
  ['8302-2', 'Body height', 'cm', 140, 205],
  ['8480-6', 'Systolic blood pressure', 'mm[Hg]', 85, 200],
  ['8462-4', 'Diastolic blood pressure', 'mm[Hg]', 50, 120],
  ['2339-0', 'Glucose', 'mg/dL', 50, 320],
  ['2093-3', 'Cholesterol', 'mg/dL', 110, 320],
  ['2571-8', 'Triglycerides', 'mg/dL', 50, 400],
  ['2085-9', 'HDL cholesterol', 'mg/dL', 20, 90],
  ['718-7', 'Hemoglobin', 'g/dL', 8, 18],
  ['6690-2', 'Leukocytes', '10*3/uL', 3, 16],
  ['777-3', 'Platelets', '10*3/uL', 120, 460],
  ['2160-0', 'Creatinine', 'mg/dL', 0.4, 3],
  ['2951-2', 'Sodium', 'mmol/L', 128, 150],
  ['2823-3', 'Potassium', 'mmol/L', 3, 6],
  ['4548-4', 'Hemoglobin A1c', '%', 4, 12],
  ['39156-5', 'Body mass index', 'kg/m2', 17, 45],
] as const;
const CONDITIONS = ['38341003', '44054006', '195967001', '73211009', '13645005', '55822004', '35489007', '40930008'];
const MEDICATIONS = ['314076', '860975', '197361', '310798', '312961', '198440', '849574', '745679'];
const STEMS = [
  'Ander',
  'Berg',
  'Cam',
  'Dono',
  'Ell',
  'Fisch',
  'Garc',
  'Holm',
  'Ito',
  'Jör',
  'Kow',
  'Lind',
  'Mül',
  'Nov',
];
const ENDINGS = ['son', 'mann', 'ski', 'ez', 'berg', 'ström', 'ova', 'er', 'field', 'wood', 'ley', 'ard'];
const GIVEN = ['Ana', 'Ben', 'Chloé', 'David', 'Elif', 'Finn', 'Grace', 'Hugo', 'Ines', 'Jon', 'Kim', 'Léa'];
const BEGIN = Date.UTC(2019, 0, 1);
const END = Date.UTC(2025, 0, 1);

/** A clinic's records, the same for the same number. */
export interface Clinic {
  readonly resources: Iterable<Resource>;
  /** Ids of its patients. */
  readonly patients: readonly string[];
  readonly codes: readonly string[];
}

/** About so many resources: Patients, and what refers to them, in the order in which it came about. */
export function clinic(count: number): Clinic {
  const random = createRandom(20_250_101);
  const patients = Array.from({ length: Math.max(1, Math.round(count / PER_PATIENT)) }, (_, n) => idOf(random, n));
  return { resources: records(random, patients), patients, codes: MEASURES.map(([code]) => `${LOINC}|${code}`) };
}

/** The medical record number of the n-th patient, as a search has it. */
export function mrn(n: number): string {
  return `${MRN}|M${100_000 + n}`;
}

function* records(random: Random, patients: readonly string[]): Generator<Resource> {
  for (const [n, id] of patients.entries()) yield patient(random, id, n);
  let serial = patients.length;
  const next = (): string => idOf(random, serial++);
  // Visit by visit and not patient by patient, so that a patient's records lie far apart.
  for (let visit = 0; visit < EACH.Encounter; visit++) {
    for (const id of patients) {
      const time = BEGIN + ((visit + random()) * (END - BEGIN)) / EACH.Encounter;
      const subject = { reference: `Patient/${id}` };
      const encounter = next();
      yield {
        resourceType: 'Encounter',
        id: encounter,
        status: 'completed',
        class: [
          {
            coding: [
              {
                system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode',
                code: pick(random, ['AMB', 'IMP', 'EMER']),
              },
            ],
          },
        ],
        subject,
        actualPeriod: { start: instant(time), end: instant(time + 3_600_000) },
      };
      const context = { subject, encounter: { reference: `Encounter/${encounter}` } };
      for (const [type, share] of Object.entries(EACH)) {
        if (type === 'Encounter') continue;
        const [from, to] = [visit, visit + 1].map((n) => Math.floor((share * n) / EACH.Encounter)) as [number, number];
        for (let i = from; i < to; i++) yield RECORDS[type]!(random, next(), context, time);
      }
    }
  }
}

function patient(random: Random, id: string, n: number): Resource {
  const [day, month] = [1 + Math.floor(random() * 28), 1 + Math.floor(random() * 12)];
  return {
    resourceType: 'Patient',
    id,
    identifier: [{ system: MRN, value: mrn(n).split('|')[1]! }],
    active: true,
    name: [
      { family: `${pick(random, STEMS)}${pick(random, ENDINGS)}`, given: [pick(random, GIVEN), pick(random, GIVEN)] },
    ],
    gender: pick(random, ['female', 'male']),
    birthDate: `${1925 + Math.floor(random() * 98)}-${pad(month)}-${pad(day)}`,
    address: [
      { line: [`${1 + Math.floor(random() * 200)} High Street`], city: `${pick(random, STEMS)}town`, country: 'US' },
    ],
  };
}

type MakeRecord = (random: Random, id: string, context: object, time: number) => Resource;

const RECORDS: Readonly<Record<string, MakeRecord>> = {
  Observation(random, id, context, time) {
    const [code, display, unit, least, most] = pick(random, MEASURES);
    const value = Math.round((least + random() * (most - least)) * 10) / 10;
    return {
      resourceType: 'Observation',
      id,
      status: random() < 0.9 ? 'final' : 'amended',
      category: [{ coding: [{ system: CATEGORY, code: Number(code.slice(0, 1)) > 7 ? 'vital-signs' : 'laboratory' }] }],
      code: { coding: [{ system: LOINC, code, display }], text: display },
      ...context,
      effectiveDateTime: instant(time + Math.floor(random() * 3_600_000)),
      issued: instant(time + 86_400_000),
      valueQuantity: { value, unit, system: UCUM, code: unit },
    };
  },
  Condition: (random, id, context, time) => ({
    resourceType: 'Condition',
    id,
    clinicalStatus: {
      coding: [
        {
          system: 'http://terminology.hl7.org/CodeSystem/condition-clinical',
          code: pick(random, ['active', 'resolved']),
        },
      ],
    },
    code: { coding: [{ system: SNOMED, code: pick(random, CONDITIONS) }] },
    ...context,
    onsetDateTime: instant(time).slice(0, 10),
    recordedDate: instant(time),
  }),
  MedicationRequest: (random, id, context, time) => ({
    resourceType: 'MedicationRequest',
    id,
    status: pick(random, ['active', 'completed', 'stopped']),
    intent: 'order',
    medication: {
      concept: { coding: [{ system: 'http://www.nlm.nih.gov/research/umls/rxnorm', code: pick(random, MEDICATIONS) }] },
    },
    ...context,
    authoredOn: instant(time),
  }),
};

function instant(time: number): string {
  return new Date(time).toISOString();
}

function pad(n: number): string {
  return String(n).padStart(2, '0');
}

/** An id as the server gives them: ascending with time. */
function idOf(random: Random, serial: number): string {
  const time = (BEGIN + serial * 7).toString(16).padStart(12, '0');
  const tail = Array.from({ length: 18 }, () => Math.floor(random() * 16).toString(16)).join('');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${tail.slice(0, 3)}-8${tail.slice(3, 6)}-${tail.slice(6)}`;
}

/** A number from 0 up to 1. */
export type Random = () => number;

/** The same numbers for the same seed (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** One of some. */
export function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)]!;
}
