import { afterAll, beforeAll, expect, it, vi } from 'vitest';

import { EVENTUALLY } from '../../eventually.js';
import { command } from '../auth.js';
import { complaint, parameter, startClient, type Client } from './stored-parameters-subject.js';

/** How soon other processes, and commands, are followed. */
/** Parameters of one value: their expressions fail where there are two. */
const PARAMETERS = [
  parameter('x-single', { expression: 'Patient.name.suffix.single()' }),
  parameter('x-mark', { base: ['Resource'], expression: '(Resource.id | Resource.language).single()' }),
  parameter('x-doctor', {
    type: 'reference',
    target: ['Practitioner'],
    expression: 'Patient.generalPractitioner.single()',
  }),
];

const patient = (id: string, values: readonly string[]) => ({
  resourceType: 'Patient',
  id,
  ...(values.length > 1 && { language: 'en' }),
  name: [{ suffix: values }],
  generalPractitioner: values.map((each) => ({ reference: `Practitioner/${each}` })),
});
const RESOURCES = [
  { resourceType: 'Practitioner', id: 'a' },
  patient('good', ['a']),
  patient('bad', ['a', 'b']),
  {
    resourceType: 'Observation',
    id: 'o',
    status: 'final',
    code: { text: 'x' },
    subject: { reference: 'Patient/good' },
  },
];

/** Searches that go by one of them somewhere, and which. */
const SEARCHES: readonly (readonly [search: string, name: string])[] = [
  ['Patient?x-single=a', 'Patient.x-single'],
  ['Patient?x-single:missing=true', 'Patient.x-single'],
  ['?_type=Patient,Observation&x-mark=a', 'Resource.x-mark'],
  ['?_type=Patient,Observation&_sort=x-mark', 'Resource.x-mark'],
  ['?_type=Patient,Observation&_filter=x-mark eq "a"', 'Resource.x-mark'],
  ['?x-mark=a', 'Resource.x-mark'],
  ['Patient/good/*?x-mark=a', 'Resource.x-mark'],
  ['Patient/good/Observation?subject:Patient.x-single=a', 'Patient.x-single'],
  ['Patient?x-mark=a', 'Patient.x-mark'],
  ['Observation?subject:Patient.x-single=a', 'Patient.x-single'],
  ['Practitioner?_has:Patient:general-practitioner:x-single=a', 'Patient.x-single'],
  ['Practitioner?_has:Patient:x-doctor:_id=good', 'Patient.x-doctor'],
  ['Observation?_has:Observation:has-member:subject:Patient.x-doctor=a', 'Patient.x-doctor'],
  ['Observation?_filter=subject:Patient.x-single eq "a"', 'Patient.x-single'],
  ['Patient?_sort=x-single', 'Patient.x-single'],
  ['Patient?_filter=x-single eq "a" or name eq "x"', 'Patient.x-single'],
  ['Patient?_id=bad&_include=Patient:x-doctor', 'Patient.x-doctor'],
  ['Practitioner?_revinclude=Patient:x-doctor', 'Patient.x-doctor'],
  ['Observation?_include=Observation:subject&_include:iterate=Patient:x-doctor', 'Patient.x-doctor'],
];

/**
 * Resources on which the expressions of stored parameters fail.
 *
 * @param store a store that nobody has used
 */
export function unindexedResources(store: string): void {
  let one: Client;
  let other: Client;
  beforeAll(async () => {
    [one, other] = await Promise.all([startClient(store), startClient(store)]);
    for (const each of [...PARAMETERS, ...RESOURCES]) expect((await put(each)).status).toBe(201);
    expect(await command('reindex', '--store', store)).toMatchObject({ code: 0 });
    await vi.waitFor(async () => {
      for (const each of [one, other]) {
        for (const { code } of PARAMETERS as unknown as { code: string }[]) {
          const { warnings } = await each.search(`Patient?${code}=Practitioner/none`);
          expect(warnings.filter((text) => text.startsWith('Index'))).toEqual([]);
        }
      }
    }, EVENTUALLY);
  }, 60_000);
  afterAll(async () => {
    await Promise.all([one?.server.close(), other?.server.close()]);
  });
  const put = (resource: Readonly<Record<string, unknown>>) =>
    one.send('PUT', `${String(resource['resourceType'])}/${String(resource['id'])}`, resource);

  it.each(SEARCHES)('%s says that it may miss some', async (search, name) => {
    const told = `The expression of ${name} failed on some resources, or took too long or found too much there: `;
    const { warnings } = await one.search(search.replaceAll(' ', '%20'));
    expect(warnings).toEqual([expect.stringContaining(told)]);
  });

  it('one that goes by none of them does not, nor any once nothing fails', async () => {
    await one.found('Patient?name=x&_sort=_id');
    await one.found('Patient?_revinclude=Observation:subject');
    expect((await put(patient('bad', ['b']))).status).toBe(200);
    for (const [search] of SEARCHES) await one.found(search.replaceAll(' ', '%20'));
    expect((await put(patient('bad', ['a', 'b']))).status).toBe(200);
  });

  it('nobody creates twice what criteria do not find, however many do it at the same moment', async () => {
    expect((await put(patient('bad', ['b']))).status).toBe(200);
    const create = (server: Client, n: number) =>
      fetch(`${server.server.url}/Patient`, {
        method: 'POST',
        headers: { 'content-type': 'application/fhir+json', 'if-none-exist': 'x-single=c' },
        body: JSON.stringify({ ...patient('', ['c', 'd']), id: undefined, birthDate: `19${10 + n}` }),
      });
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => create(n % 2 === 0 ? one : other, n)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status === 503)).toHaveLength(19);
    expect(await one.found('Patient?birthdate=ge1910&_elements=id')).toHaveLength(1);
    const bundle = {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: ['e', 'f'].map((code) => ({
        resource: { ...patient('', [code, 'g']), id: undefined },
        request: { method: 'POST', url: 'Patient', ifNoneExist: `x-single=${code}` },
      })),
    };
    const [made] = (await one.send('GET', 'Patient?birthdate=ge1910')).body.entry ?? [];
    await one.send('DELETE', `Patient/${made?.resource.id}`);
    expect(complaint(await one.send('POST', '', bundle)).slice(0, 2)).toEqual([503, 'index-not-current']);
    expect(await one.found('Patient?name=g')).toEqual([]);
  });
}
