import { afterAll, expect, it } from 'vitest';

import { openStore } from '../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../mongod/for-tests.js';
import { entry, transaction, useBundleServer, word } from './bundles/bundle-server.js';
import { idsOf, includedIn } from './search-server.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

/** One request of each kind; the suites of the other files run on MongoDB in `npm run test:long` (`*-mongo.test.ts`). */
describeOnMongod('a server on MongoDB, in short', () => {
  if (store === undefined) return;
  const server = useBundleServer(store);
  afterAll(() => store.close());

  it('creates, reads, updates, patches and deletes, and keeps each version', async () => {
    const id = word();
    const path = `/Patient/${id}`;
    const resource = { resourceType: 'Patient', id, active: true };
    expect((await server.send('PUT', path, resource)).status).toBe(201);
    expect((await server.send('PUT', path, { ...resource, active: false }, { 'if-match': 'W/"1"' })).status).toBe(200);
    const patch = [{ op: 'add', path: '/gender', value: 'female' }];
    const headers = { 'content-type': 'application/json-patch+json' };
    expect((await server.send('PATCH', path, patch, headers)).json()).toMatchObject({
      active: false,
      gender: 'female',
      meta: { versionId: '3' },
    });
    expect((await server.send('DELETE', path)).status).toBe(200);
    expect((await server.send('GET', path)).status).toBe(410);
    expect((await server.send('GET', `${path}/_history/1`)).json()).toMatchObject({ active: true });
    expect((await server.send('GET', `${path}/_history`)).json()).toMatchObject({ total: 4 });
  });

  it('writes a transaction whole or not at all', async () => {
    const [patient, other] = [word(), word()];
    const puts = [patient, other].map((id) => entry('PUT', `Patient/${id}`, { resourceType: 'Patient', id }));
    const broken = entry('PUT', `Patient/${word()}`, { resourceType: 'Observation' });
    expect((await server.send('POST', '', transaction(...puts, broken))).status).toBeGreaterThanOrEqual(400);
    for (const id of [patient, other]) expect((await server.send('GET', `/Patient/${id}`)).status).toBe(404);
    expect((await server.send('POST', '', transaction(...puts))).status).toBe(200);
    for (const id of [patient, other]) expect((await server.send('GET', `/Patient/${id}`)).status).toBe(200);
  });

  it('finds by values, words, chains and reverse chains, sorted, page by page, with what is included', async () => {
    const [ada, bob, first, second] = [word(), word(), word(), word()];
    const of = (id: string, who: string, day: number) => ({
      ...{ resourceType: 'Observation', id, status: 'final', code: { text: `Heart rate ${id}` } },
      ...{ subject: { reference: `Patient/${who}` }, effectiveDateTime: `2024-01-0${day}` },
    });
    const named = (id: string) => ({ resourceType: 'Patient', id, name: [{ family: id }], birthDate: '1980-01-01' });
    const resources = [named(ada), named(bob), of(first, ada, 1), of(second, ada, 2)];
    const all = resources.map((each) => entry('PUT', `${each.resourceType}/${each.id}`, each));
    expect((await server.send('POST', '', transaction(...all))).status).toBe(200);
    const search = (query: string) => server.send('GET', `/${query}`);
    expect(idsOf(await search(`Patient?family=${ada}&birthdate=lt1990`))).toEqual([ada]);
    expect(idsOf(await search(`Observation?subject.family=${ada}&_sort=-date`))).toEqual([second, first]);
    expect(idsOf(await search(`Patient?_has:Observation:subject:status=final&family=${ada},${bob}`))).toEqual([ada]);
    expect(idsOf(await search(`Observation?_content=${encodeURIComponent(`"rate ${first}"`)}`))).toEqual([first]);
    const page = await search(`Observation?subject=Patient/${ada}&_sort=date&_count=1&_include=Observation:subject`);
    expect([idsOf(page), includedIn(page)]).toEqual([[first], [`Patient/${ada}`]]);
    const next = page.json().link.find(({ relation }: { relation: string }) => relation === 'next').url as string;
    expect(idsOf(await search(next.split('/fhir/')[1]!))).toEqual([second]);
  });
});
