// Each line after @ts-expect-error is a mistake that the types of the package have to find.
import { kiln } from 'kiln';
import { FhirClient } from 'kiln/client';
import type { Patient } from 'kiln/types';

// @ts-expect-error There is no such setting.
kiln({ stroe: 'sqlite::memory:' });
// @ts-expect-error The application listens.
kiln({ port: 80 });
// @ts-expect-error A word that the setting does not have.
kiln({ validation: 'most' });
const fhir = kiln({ 'limits.body': '2 MB', validation: 'structure' });

fhir.on.beforeWrite('Patient', (patient) => ({ ...patient, gender: 'other' }));
// @ts-expect-error Another code.
fhir.on.beforeWrite('Patient', (patient) => ({ ...patient, gender: 'woman' }));
// @ts-expect-error No such type.
fhir.on.afterWrite('Patiant', () => {});
fhir.on.afterWrite('Observation', ({ resource }) => console.log(resource?.code));

// @ts-expect-error A code that is not in the value set.
export const patient: Patient = { resourceType: 'Patient', gender: 'woman' };

const client = new FhirClient({ base: 'http://127.0.0.1:3000/fhir' });
// @ts-expect-error A parameter that the type does not have.
client.search('Patient', { famly: 'x' });
// @ts-expect-error A type that does not exist.
void client.read('Patiant', '1');
