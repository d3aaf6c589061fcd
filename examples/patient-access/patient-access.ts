// Reads the record of one patient, type by type (International Patient Access; Resource Access Provider of the HL7 Europe Health Data API).
// node dist/patient-access.js BASE CLIENT KEY.jwk IDENTIFIER
import { readFileSync } from 'node:fs';

import { backendServices, FhirClient } from 'kiln/client';

const [base = '', clientId = '', keyFile = '', identifier = ''] = process.argv.slice(2);
const TYPES = ['AllergyIntolerance', 'Condition', 'Immunization', 'MedicationRequest', 'Observation'] as const;
const key = JSON.parse(readFileSync(keyFile, 'utf8'));
const scope = ['Patient', ...TYPES].map((type) => `system/${type}.rs`).join(' ');
const client = new FhirClient({ base, token: backendServices({ base, clientId, key, scope }) });

const { entry = [] } = await client.search('Patient', { identifier }).bundle();
const patients = entry.flatMap(({ resource }) => (resource?.resourceType === 'Patient' ? [resource] : []));
const [patient] = patients;
if (patient === undefined || patients.length > 1) {
  console.error(`${patients.length} patients have the identifier ${identifier}`);
  process.exit(1);
}
console.log(`Patient/${patient.id}`);
for (const type of TYPES) {
  // Each search names its patient: a provider refuses others.
  for await (const { id, code } of client.search(type, { patient: `Patient/${patient.id}` }) as AsyncIterable<Coded>) {
    console.log(`${type}/${id} ${code?.text ?? code?.coding?.[0]?.display ?? ''}`.trimEnd());
  }
}

interface Coded {
  readonly id?: string;
  readonly code?: { readonly text?: string; readonly coding?: readonly { readonly display?: string }[] };
}
