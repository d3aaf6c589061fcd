import { startKiln } from '../../service/kiln-process.js';

const FHIR = 'application/fhir+json';

/** Requests by which the fixture was filled: something of everything that a store keeps. */
const FILL: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['PUT', '/SearchParameter/colour', {
    ...{ resourceType: 'SearchParameter', id: 'colour', url: 'http://example.org/SearchParameter/colour', name: 'Colour' },
    ...{ description: 'x', status: 'active', code: 'colour', base: ['Patient'], type: 'token', processingMode: 'normal' },
    expression: "Patient.extension('urn:colour').value.ofType(code)",
  }],
  ...['Chalmers', 'Özil', "O'Neill"].map((family, i) => ['PUT', `/Patient/p${i}`, {
    ...{ resourceType: 'Patient', id: `p${i}`, name: [{ family, given: ['A', `B${i}`] }], gender: i === 1 ? 'male' : 'female' },
    ...{ birthDate: `19${70 + i}-0${i + 1}`, identifier: [{ system: 'urn:mrn', value: `m${i}` }] },
    extension: [{ url: 'urn:colour', valueCode: i === 2 ? 'red' : 'blue' }],
  }] as const),
  ['PUT', '/Patient/p0', { resourceType: 'Patient', id: 'p0', name: [{ family: 'Chalmers' }], active: true }],
  ['PUT', '/Organization/o', { resourceType: 'Organization', id: 'o', name: 'Kiln \u{1f525}', alias: ['k'] }],
  ...[1.5, 120, 0.003].map((value, i) => ['PUT', `/Observation/v${i}`, {
    ...{ resourceType: 'Observation', id: `v${i}`, status: 'final', subject: { reference: `Patient/p${i}` } },
    ...{ code: { coding: [{ system: 'http://loinc.org', code: `c${i}` }], text: 'heart rate' } },
    ...{ effectiveDateTime: `2024-0${i + 1}-01T10:00:00+02:00`, performer: [{ reference: 'Organization/o' }] },
    valueQuantity: { value, unit: 'mg', system: 'http://unitsofmeasure.org', code: 'mg' },
  }] as const),
  ['PUT', '/MedicationRequest/m', {
    ...{ resourceType: 'MedicationRequest', id: 'm', status: 'active', intent: 'order', subject: { reference: 'Patient/p1' } },
    medication: { reference: { reference: '#in' } },
    contained: [{ resourceType: 'Medication', id: 'in', code: { coding: [{ system: 'urn:drug', code: 'd' }] } }],
  }],
  ['PUT', '/Binary/b', { resourceType: 'Binary', id: 'b', contentType: 'text/plain', data: Buffer.alloc(3000, 'k').toString('base64') }],
  ['PUT', '/Basic/gone', { resourceType: 'Basic', id: 'gone', code: { text: 'x' } }],
  ['DELETE', '/Basic/gone'],
  ['PUT', '/Basic/back', { resourceType: 'Basic', id: 'back', code: { text: 'first' } }],
  ['DELETE', '/Basic/back'],
  ['PUT', '/Basic/back', { resourceType: 'Basic', id: 'back', code: { text: 'second' } }],
]; // prettier-ignore

/** Requests whose answers have to stay what they were. */
const ASKED: readonly string[] = [
  '/_history?_count=100',
  '/Patient/p0/_history',
  '/Basic/gone/_history/1',
  '/Binary/b',
  '/Patient?name=ozil',
  '/Patient?identifier=urn:mrn|m1',
  '/Patient?birthdate=ge1971&_sort=birthdate',
  '/Patient?colour=blue&_sort=_id',
  '/Patient?_has:Observation:subject:code=c2',
  '/Observation?value-quantity=gt0.01|http://unitsofmeasure.org|mg&_sort=_id',
  '/Observation?subject=Patient/p1&_include=Observation:performer',
  '/Observation?date=2024-02&code:text=heart',
  '/Medication?code=urn:drug|d&_contained=true',
  '/MedicationRequest?patient=p1&_include=MedicationRequest:subject',
  '/Basic?_sort=_id',
];

/** What differs from one server, store or run to another. */
const VARYING = new Set(['lastUpdated', 'lastModified', 'timestamp', 'fullUrl', 'link', 'location', 'search']);

/** Hints of a search depend on what jobs have done by then. */
function isOutcome(entry: { readonly resource?: { readonly resourceType?: string } } | undefined): boolean {
  return entry?.resource?.resourceType === 'OperationOutcome';
}

function withoutVarying(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((each) => !isOutcome(each)).map(withoutVarying);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !VARYING.has(name) && !(name === 'id' && 'entry' in value));
  return Object.fromEntries(kept.map(([name, each]) => [name, withoutVarying(each)]));
}

/** Starts a server on a store, lets it work, and ends it. */
async function served<T>(store: string, work: (base: string) => Promise<T>): Promise<T> {
  const kiln = startKiln([
    'serve',
    '--port',
    '0',
    '--validation',
    'structure',
    '--store',
    store,
    '--log-level',
    'error',
  ]);
  try {
    return await work(await kiln.started);
  } finally {
    kiln.child.kill('SIGTERM');
    await kiln.ended;
  }
}

/** Fills a store that is empty. @throws Error naming a request that was refused */
export async function fillLayout(store: string): Promise<void> {
  await served(store, async (base) => {
    for (const [method, path, body] of FILL) {
      const headers = { 'content-type': FHIR, accept: FHIR };
      const sent = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
      const answer = await fetch(base + path, sent);
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    }
  });
}

/** Answers of a server on a store, without what differs from run to run. */
export async function answersOf(store: string): Promise<Record<string, unknown>> {
  return served(store, async (base) => {
    const answers: Record<string, unknown> = {};
    for (const path of ASKED) {
      const answer = await fetch(base + path, { headers: { accept: FHIR } });
      answers[path] = withoutVarying(await answer.json());
    }
    return answers;
  });
}
