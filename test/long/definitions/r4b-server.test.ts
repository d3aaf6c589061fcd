import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';

import { R4B } from '../../generator/release.js';
import { checkoutCopy, ROOT } from './checkout-copy.js';

const EXAMPLES = join(ROOT, 'test/packages/node_modules/hl7.fhir.r4b.examples');
const JSON_TYPE = 'application/fhir+json; fhirVersion=4.3';

type Body = Readonly<Record<string, unknown>> & { readonly resourceType: string };

/** Official examples that break the definitions of their own release, by what is said of them. */
const FAULTY: readonly (readonly [RegExp, number])[] = [
  [/^422 .*\(profile http:\/\/hl7\.org\/fhir\/StructureDefinition\/shareable(?:codesystem|valueset)\)/, 160],
  [/^400 SearchParameter: "base" is required/, 10],
  [/^400 .* is no string: /, 10],
  [/^422 StructureDefinition: If the structure is not abstract/, 4],
  [/^422 .*\(cmd-1\)/, 4],
  [/^422 (?:CodeSystem: .*\(csd-1\)|Questionnaire: .*\(que-2\))/, 2],
  [/^400 (?:CodeSystem|ValueSet): "status" is required/, 2],
  [/^400 Bundle\.entry\[135\]\.resource: "status" is required/, 1],
  [/^400 An id is 1 to 64 letters/, 1],
  [/^413 /, 1],
];

/** With the members of all objects in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, each]) => [key, sorted(each)])); // prettier-ignore
}

describe('a server that is generated from R4B', () => {
  const { run, serve } = checkoutCopy();
  const kiln = (...args: string[]) => run('dist/runtime/cli/main.js', ...args);

  async function client() {
    const base = await serve();
    return {
      base,
      async send(method: string, path: string, body?: object | string, headers: Record<string, string> = {}) {
        const text = typeof body === 'object' ? JSON.stringify(body) : body;
        const answer = await fetch(path.startsWith('http') ? path : `${base}/${path}`, {
          ...{ method, headers: { 'content-type': JSON_TYPE, accept: JSON_TYPE, ...headers } },
          ...(text !== undefined && { body: text }),
        });
        const read = await answer.text();
        return { status: answer.status, headers: answer.headers, body: (read === '' ? {} : JSON.parse(read)) as Body };
      },
    };
  }
  const example = (name: string): Body => JSON.parse(readFileSync(join(EXAMPLES, `${name}.json`), 'utf8')) as Body;

  beforeAll(async () => {
    const generated = await kiln('generate', '--package', R4B);
    expect(generated.code, generated.text).toBe(0);
    expect(generated.text).toContain('not in FHIR 4.3.0: topic subscriptions');
    const built = await run('scripts/build.mjs');
    expect(built.code, built.text).toBe(0);
  });

  it('says so, and speaks of its release in media types', async () => {
    const { send } = await client();
    const { body, headers } = await send('GET', 'metadata');
    expect(body).toMatchObject({ resourceType: 'CapabilityStatement', fhirVersion: '4.3.0' });
    expect(headers.get('content-type')).toContain('fhirVersion=4.3');
    expect(
      (await send('GET', 'metadata', undefined, { accept: 'application/fhir+json; fhirVersion=5.0' })).status,
    ).toBe(406);
    expect((await send('POST', 'Patient', example('Patient-example'), { 'content-type': 'application/fhir+json; fhirVersion=5.0' })).status).toBe(415); // prettier-ignore
    expect((await send('GET', 'Transport')).status).toBe(404);
    expect((await send('GET', 'Media')).status).toBe(200);
  });

  it('stores and gives back the official examples, but for those that are faulty themselves', async () => {
    const { send } = await client();
    const refused: string[] = [];
    let stored = 0;
    for (const file of readdirSync(EXAMPLES).filter(
      (name) => name.endsWith('.json') && !/^(?:package|\.)/.test(name),
    )) {
      const sent = example(file.slice(0, -'.json'.length));
      if (typeof sent['id'] !== 'string') continue;
      const put = await send('PUT', `${sent.resourceType}/${sent['id']}`, sent);
      if (put.status === 201) {
        stored++;
        const { meta: _meta, ...read } = (await send('GET', `${sent.resourceType}/${sent['id']}`)).body;
        const { meta: _sent, ...rest } = sent;
        // White space in base64 says nothing.
        if (sent.resourceType !== 'Binary')
          expect(JSON.stringify(sorted(read)), file).toBe(JSON.stringify(sorted(rest)));
      } else {
        const issues = put.body['issue'] as { readonly diagnostics?: string }[];
        refused.push(`${put.status} ${issues.map(({ diagnostics = '' }) => diagnostics).join(' ')}`);
      }
    }
    const counts = FAULTY.map(([pattern]) => refused.filter((each) => pattern.test(each)).length);
    expect(refused.filter((each) => !FAULTY.some(([pattern]) => pattern.test(each)))).toEqual([]);
    FAULTY.forEach(([pattern, most], i) => expect(counts[i], String(pattern)).toBeLessThanOrEqual(most));
    expect(stored).toBeGreaterThan(2600);
    // By parameters that R4B has otherwise than R5.
    const found = async (path: string): Promise<readonly string[]> => {
      const { status, body } = await send('GET', path);
      expect(status, path).toBe(200);
      return ((body['entry'] ?? []) as { resource: { id: string } }[]).map(({ resource }) => resource.id);
    };
    expect(await found('Observation?code=http://loinc.org|29463-7&subject=Patient/example')).toContain('example');
    expect(await found('MedicationRequest?medication.code=http://snomed.info/sct|324252006')).toBeDefined();
    expect(await found('Encounter?class=http://terminology.hl7.org/CodeSystem/v3-ActCode|IMP&_count=1')).toHaveLength(
      1,
    );
    expect(await found('Patient?name=chalmers&_revinclude=Observation:patient')).toContain('example');
    expect(await found('Condition?patient=Patient/example&_sort=-onset-date')).not.toHaveLength(0);
    expect((await send('GET', 'Patient/$everything')).status).toBeLessThan(500);
    expect((await send('GET', 'Patient/example/$everything')).status).toBe(200);
  });

  it('creates, reads, updates, keeps history, deletes, searches and executes transactions', async () => {
    const { send, base } = await client();
    const { id: _id, ...patient } = example('Patient-example');
    const created = await send('POST', 'Patient', patient);
    expect(created.status).toBe(201);
    const id = String(created.body['id']);
    const updated = await send('PUT', `Patient/${id}`, { ...patient, id, birthDate: '1974-12-26' });
    expect(updated.status).toBe(200);
    expect((await send('GET', `Patient/${id}/_history/1`)).body).toMatchObject({ birthDate: '1974-12-25' });
    expect((await send('GET', `Patient/${id}/_history`)).body).toMatchObject({ type: 'history', total: 2 });
    expect((await send('GET', 'Patient?family=Chalmers&birthdate=1974-12-26')).body).toMatchObject({ total: 1 });
    const patch = await send('PATCH', `Patient/${id}`, [{ op: 'replace', path: '/active', value: false }], { 'content-type': 'application/json-patch+json' }); // prettier-ignore
    expect(patch.status).toBe(200);
    const whole = {
      ...{ resourceType: 'Bundle', type: 'transaction' },
      entry: [
        {
          fullUrl: 'urn:uuid:61ebe359-bfdc-4613-8bf2-c5e300945f0a',
          resource: patient,
          request: { method: 'POST', url: 'Patient' },
        },
        {
          resource: {
            ...example('Observation-example'),
            id: undefined,
            subject: { reference: 'urn:uuid:61ebe359-bfdc-4613-8bf2-c5e300945f0a' },
          },
          request: { method: 'POST', url: 'Observation' },
        },
        { request: { method: 'DELETE', url: `Patient/${id}` } },
      ],
    };
    const transaction = await send('POST', base, whole);
    expect(transaction.status, JSON.stringify(transaction.body)).toBe(200);
    expect((await send('GET', `Patient/${id}`)).status).toBe(410);
    const [location] = (transaction.body['entry'] as { response: { location: string } }[]).map(
      ({ response }) => response.location,
    );
    const subject = /Patient\/[^/]+/.exec(location!)![0];
    expect((await send('GET', `Observation?subject=${subject}`)).body).toMatchObject({ total: 1 });
    const xml = await fetch(`${base}/${subject}?_format=xml`);
    expect(await xml.text()).toContain('<Patient xmlns="http://hl7.org/fhir">');
  });

  it('validates by the definitions of R4B', async () => {
    const { send } = await client();
    const issues = async (resource: object): Promise<string> =>
      JSON.stringify(
        (
          await send('POST', 'MedicationRequest/$validate', {
            resourceType: 'Parameters',
            parameter: [{ name: 'resource', resource }],
          })
        ).body,
      );
    expect(await issues(example('MedicationRequest-medrx0301'))).not.toContain('"error"');
    // What R5 has, and R4B has not.
    const { body } = await send('POST', 'MedicationRequest', {
      ...{ resourceType: 'MedicationRequest', status: 'active', intent: 'order', subject: { reference: 'Patient/x' } },
      medication: { concept: { text: 'x' } },
    });
    expect(JSON.stringify(body)).toContain('medication');
    expect((await send('POST', 'Observation', { resourceType: 'Observation', status: 'final' })).status).toBe(400);
    const broken = await send('POST', 'Patient', { resourceType: 'Patient', contact: [{ gender: 'male' }] });
    expect(broken.status).toBe(422);
    expect(JSON.stringify(broken.body)).toContain('pat-1');
    expect((await send('POST', 'Subscription', example('Subscription-example'))).status).toBe(201);
  });
});
