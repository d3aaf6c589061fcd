import express from 'express';
import { kiln, WriteRefused } from 'kiln';
import { FhirClient } from 'kiln/client';
import type { Patient } from 'kiln/types';

const { PORT = '3000', STORE = 'sqlite:./data/kiln.db' } = process.env;

// Without authorization, so that the example can be tried by hand: it serves programs on this machine only.
const fhir = kiln({ store: STORE, auth: 'open' });
fhir.on.beforeWrite('Patient', (patient) => {
  if (patient.name === undefined) throw new WriteRefused('A patient needs a name here');
});
const client = new FhirClient({ base: `http://127.0.0.1:${PORT}/fhir` });

const app = express();
app.use('/fhir', fhir);
// Parsers of bodies come after Kiln.
app.use(express.json());

app.post('/patients', async (req, res) => {
  const { family, birthDate } = req.body as { family: string; birthDate?: string };
  const patient: Patient = { resourceType: 'Patient', name: [{ family }] };
  if (birthDate !== undefined) patient.birthDate = birthDate;
  const { id } = await client.create(patient);
  res.status(201).json({ id });
});

app.get('/patients', async (_req, res) => {
  const names: string[] = [];
  for await (const { name } of client.search('Patient', { _sort: 'family' })) names.push(name?.[0]?.family ?? '');
  res.json(names);
});

await fhir.ready;
const server = app.listen(Number(PORT), '127.0.0.1', () => console.log(`FHIR at http://127.0.0.1:${PORT}/fhir`));

process.once('SIGTERM', () => {
  server.close(() => void fhir.close());
});
