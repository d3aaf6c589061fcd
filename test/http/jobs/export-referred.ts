import { beforeAll, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { putAll, type Sendable } from '../search-server.js';
import { expectRefusal } from '../write-server.js';
import { ASYNC, jobsServer, linesOf } from './jobs-server.js';

/** `Group/[id]/$export`: the practitioners and organizations that the records of its patients refer to */
export function exportsReferred(store: Store): void {
  const server = jobsServer(store);
  const { all } = server;
  const below = (url: string): string => url.replace(/^.*?\/fhir/, '');
  const status: Record<string, string> = {};

  async function start(path: string, scopes = 'system/*.rs'): Promise<string> {
    const answer = await server.as(scopes, 'exporter').send('GET', path, undefined, ASYNC);
    expect(answer.status, answer.text).toBe(202);
    return below(String(answer.headers['content-location']));
  }

  async function namesOf(name: string, scopes = 'system/*.rs'): Promise<string[]> {
    const who = server.as(scopes, 'exporter');
    const { output } = (await who.send('GET', status[name] ?? '')).json() as {
      output: { type: string; url: string }[];
    };
    const found: string[] = [];
    for (const { type, url } of output) {
      const answer = await who.send('GET', below(url));
      expect(answer.status, answer.text).toBe(200);
      for (const { id, meta } of linesOf(answer.text) as unknown as { id: string; meta: { versionId: string } }[]) {
        found.push(`${type}/${id}/${meta.versionId}`);
      }
    }
    return found.sort();
  }

  beforeAll(async () => {
    const organization = (id: string): Sendable => ({ resourceType: 'Organization', id, name: id });
    const practitioner = (id: string): Sendable => ({ resourceType: 'Practitioner', id, active: true });
    const observation = (id: string, patient: string, performer: string): Sendable => ({
      ...{ resourceType: 'Observation', id, status: 'final', code: { text: 'x' } },
      ...{ subject: { reference: `Patient/${patient}` }, performer: [{ reference: performer }] },
    });
    await putAll(all, [
      ...['org', 'far', 'changed'].map(organization),
      ...['dr', 'far', 'versioned'].map(practitioner),
      { resourceType: 'Patient', id: 'a', managingOrganization: { reference: 'Organization/org' } },
      { resourceType: 'Patient', id: 'b' },
      { resourceType: 'Group', id: 'g', type: 'person', membership: 'enumerated', member: [{ entity: { reference: 'Patient/a' } }] }, // prettier-ignore
      observation('o1', 'a', 'Practitioner/dr'),
      observation('o2', 'a', 'Practitioner/versioned/_history/1'),
      observation('o3', 'a', 'Organization/changed'),
      observation('o4', 'a', 'Practitioner/none'),
      observation('o5', 'b', 'Practitioner/far'),
    ] as Sendable[]);
    status['group'] = await start('/Group/g/$export');
    status['patients'] = await start('/Patient/$export');
    status['types'] = await start('/Group/g/$export?_type=Patient,Observation');
    status['named'] = await start('/Group/g/$export?_type=Observation,Practitioner');
    status['narrow'] = await start('/Group/g/$export', 'system/Patient.rs system/Group.rs system/Organization.rs');
    // What was referred to comes as it was.
    await putAll(all, [{ resourceType: 'Organization', id: 'changed', name: 'too late' }] as Sendable[]);
    await all.send('DELETE', '/Practitioner/dr');
    await server.finish();
  }, 60_000);

  const RECORD = ['Group/g/1', 'Observation/o1/1', 'Observation/o2/1', 'Observation/o3/1', 'Observation/o4/1', 'Patient/a/1']; // prettier-ignore

  it('come without being asked for, as they were at the transaction time', async () => {
    const referred = ['Organization/changed/1', 'Organization/org/1', 'Practitioner/dr/1', 'Practitioner/versioned/1'];
    expect(await namesOf('group')).toEqual([...RECORD, ...referred].sort());
  });

  it('come at no other level, and not where other types are asked for', async () => {
    expect((await namesOf('patients')).filter((name) => /^(Org|Pract)/.test(name))).toEqual([]);
    expect(await namesOf('types')).toEqual(RECORD.filter((name) => !name.startsWith('Group/')));
    const path = '/Group/g/$export?_type=Practitioner';
    expectRefusal(await all.send('GET', path, undefined, ASYNC), 400, 'parameter-invalid', 'Practitioner');
  });

  it('come of the types that are asked for, beside what refers to them', async () => {
    const observations = RECORD.filter((name) => name.startsWith('Observation/'));
    expect(await namesOf('named')).toEqual([...observations, 'Practitioner/dr/1', 'Practitioner/versioned/1']);
    const path = '/Group/g/$export?_type=Practitioner';
    expectRefusal(await all.send('GET', path, undefined, ASYNC), 400, 'parameter-invalid', 'what refers to it');
  });

  it('come as far as the token covers them', async () => {
    const scopes = 'system/Patient.rs system/Group.rs system/Organization.rs';
    expect(await namesOf('narrow', scopes)).toEqual(['Group/g/1', 'Organization/org/1', 'Patient/a/1']);
  });

  it('leaves no defects', () => expect(server.defects).toEqual([]));
}
