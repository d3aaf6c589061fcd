import { join } from 'node:path';

import { afterAll, beforeAll, expect, it, vi } from 'vitest';

import { EVENTUALLY } from '../../eventually.js';
import { codeSystem, guideFile, makePackage } from '../../guides/make-package.js';
import { readExamples } from '../../guides/read-examples.js';
import { command } from '../auth.js';
import { subscription, topic, TOPIC_URL } from '../subscriptions/server.js';
import { startClient, type Answered, type Client } from '../stored-parameters/stored-parameters-subject.js';

const GUIDE = 'http://example.org/guide';
const FIRST = guideFile('example.guide-1.0.0');
const SECOND = guideFile('example.guide-1.1.0');

/**
 * A guide comes, goes on and goes while two servers run.
 *
 * @param store a store that nobody has used
 * @param folder for files
 */
export function packages(store: string, folder: string): void {
  let one: Client;
  let other: Client;
  let before: string;
  beforeAll(async () => {
    one = await startClient(store, { 'reindex-automatic': 'true', 'subscriptions-allow': 'nobody.example' });
    other = await startClient(store, { 'subscriptions-allow': 'nobody.example' });
    before = await statement(one);
  }, 60_000);
  afterAll(async () => {
    await Promise.all([one?.server.close(), other?.server.close()]);
  });

  const kiln = (...args: string[]) => command('package', ...args, '--store', store);
  /** What a server claims, to the letter but for its URL. */
  const statement = async ({ send }: Client): Promise<string> => {
    return JSON.stringify((await send('GET', 'metadata')).body)
      .replaceAll(one.server.url, '')
      .replaceAll(other?.server.url ?? '-', '');
  };
  const put = (resource: Readonly<Record<string, unknown>>): Promise<Answered> =>
    one.send('PUT', `${String(resource['resourceType'])}/${String(resource['id'])}`, resource);
  const onBoth = (check: (client: Client) => Promise<void>): Promise<void> =>
    vi.waitFor(async () => void (await Promise.all([one, other].map(check))), EVENTUALLY);
  const indexed = (): Promise<void> =>
    vi.waitFor(async () => expect((await kiln('check')).out).toContain('all as they came'), EVENTUALLY);

  it('once it is added, both servers claim it, search by its parameter and judge by its profiles', async () => {
    const { good, bad } = await readExamples(FIRST);
    const early = { ...good['Patient'], id: 'early' };
    const [{ meta: _meta, ...patient }] = [early as Record<string, unknown>];
    expect((await put(patient)).status).toBe(201);
    const { code, out, err } = await kiln('add', FIRST);
    expect(code, err).toBe(0);
    expect(out).toMatch(/^example\.guide@1\.0\.0: 8 definitions$/m);
    await onBoth(async (client) => {
      const claims = await client.send('GET', 'metadata');
      expect(claims.body).toMatchObject({ implementationGuide: [`${GUIDE}/ImplementationGuide/example.guide|1.0.0`] });
      const text = await statement(client);
      expect(text).toContain(`"${GUIDE}/StructureDefinition/ward-patient"`);
      expect(text).toContain(`"name":"ward","definition":"${GUIDE}/SearchParameter/patient-ward","type":"token"`);
      expect(await client.found('StructureDefinition?_tag=urn:kiln:package|example.guide&_sort=_id')).toHaveLength(3);
    });
    for (const each of Object.values(good)) expect((await put(each)).status, String(each['id'])).toBe(201);
    for (const each of Object.values(bad)) expect((await put(each)).status, String(each['id'])).toBe(422);
    // What was there before is indexed by a job.
    await indexed();
    await onBoth(async (client) => {
      expect((await client.found('Patient?ward=north')).length).toBeGreaterThan(0);
    });
  });

  it('the same again changes nothing', async () => {
    const version = async () => (await one.send('GET', 'CodeSystem/wards')).body['meta'];
    const was = await version();
    expect(await kiln('add', FIRST)).toMatchObject({ code: 0, out: 'example.guide@1.0.0 is already there' });
    expect(await version()).toEqual(was);
  });

  it('a newer version takes its place: what is the same keeps its version, what changed counts', async () => {
    const { good: old } = await readExamples(FIRST);
    const { good } = await readExamples(SECOND);
    expect((await kiln('add', SECOND)).out).toContain('0 resources added, 8 changed, 0 removed');
    await onBoth(async (client) => {
      expect((await client.send('GET', 'metadata')).body).toMatchObject({
        implementationGuide: [`${GUIDE}/ImplementationGuide/example.guide|1.1.0`],
      });
      const icu = await client.send('GET', `CodeSystem/$validate-code?url=${GUIDE}/CodeSystem/wards&code=icu`);
      expect(JSON.stringify(icu.body)).toContain('"valueBoolean":true');
      expect((await put({ ...old['Patient']!, id: 'again' })).status).toBe(422);
    });
    expect((await put(good['Patient']!)).status).toBe(200);
    await indexed();
  });

  it('what is changed by hand is found out, and put right with --replace', async () => {
    const { body } = await one.send('GET', 'ValueSet/wards');
    expect((await put({ ...body, title: 'Mine' })).status).toBe(200);
    expect(await kiln('check')).toMatchObject({
      code: 1,
      out: `example.guide@1.1.0: ValueSet/wards (${GUIDE}/ValueSet/wards) was changed`,
    });
    expect((await kiln('add', SECOND, '--replace')).out).toContain('0 resources added, 1 changed, 0 removed');
    expect((await kiln('check')).code).toBe(0);
  });

  it('resources of users are never overwritten, and stay', async () => {
    const own = {
      resourceType: 'CodeSystem',
      url: 'http://own.example',
      version: '1',
      status: 'active',
      content: 'complete',
    };
    expect((await put({ ...own, id: 'own' })).status).toBe(201);
    const other = makePackage(folder, { name: 'users.other', version: '1.0.0' }, [
      { ...own, id: 'x', title: 'Another' },
    ]);
    const refused = await kiln('add', other);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain(
      'http://own.example|1 has another content than CodeSystem/own, which no package brought',
    );
    const same = makePackage(folder, { name: 'users.same', version: '1.0.0' }, [{ ...own, id: 'x' }]);
    expect((await kiln('add', same)).out).toContain('0 resources added, 0 changed, 0 removed');
    expect((await kiln('remove', 'users.same')).code).toBe(0);
    expect((await one.send('GET', 'CodeSystem/own')).body['meta']).toMatchObject({ versionId: '1' });
    expect((await one.send('DELETE', 'CodeSystem/own')).status).toBeLessThan(300);
  });

  it('what a user made of resources of a package is neither overwritten nor deleted, and is named', async () => {
    const version = (
      number: string,
      more: Readonly<Record<string, unknown>> = {},
      ids = ['edited', 'taken', 'whole'],
    ) =>
      makePackage(
        folder,
        { name: 'users.edits', version: number },
        ids.map((id) => codeSystem(id, `http://package.example/${id}`, { version: number, ...more })),
      );
    const titleOf = async (id: string) => (await one.send('GET', `CodeSystem/${id}`)).body['title'];
    const first = version('1.0.0');
    expect((await kiln('add', first)).code).toBe(0);
    const { body } = await one.send('GET', 'CodeSystem/edited');
    expect((await put({ ...body, title: 'Mine' })).status).toBe(200);
    expect((await one.send('DELETE', 'CodeSystem/taken')).status).toBeLessThan(300);
    expect((await put({ ...codeSystem('taken', 'http://mine.example'), title: 'Mine, too' })).status).toBe(201);

    const second = version('1.1.0');
    const refused = await kiln('add', second);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('CodeSystem/edited was changed since users.edits@1.0.0 brought it');
    expect(refused.err).toContain('--replace');
    expect(await titleOf('edited')).toBe('Mine');
    expect((await kiln('add', first)).out).toMatch(/already there; 2 of its resources .*--replace/);

    expect((await kiln('add', second, '--replace')).code).toBe(0);
    expect(await titleOf('edited')).toBeUndefined();
    expect(await titleOf('taken')).toBe('Mine, too');
    expect(await one.found('CodeSystem?url=http://package.example/taken')).toHaveLength(1);
    expect((await kiln('check')).out).not.toContain('users.edits');

    const again = await one.send('GET', 'CodeSystem/edited');
    expect((await put({ ...again.body, title: 'Mine again' })).status).toBe(200);
    // What a newer version does not have any more stays where a user changed it.
    const third = await kiln('add', version('1.2.0', {}, ['whole']));
    expect(third.code, third.err).toBe(0);
    expect(third.out).toContain('CodeSystem/edited was changed since the package brought it');
    expect(await titleOf('edited')).toBe('Mine again');
    const whole = await one.send('GET', 'CodeSystem/whole');
    expect((await put({ ...whole.body, title: 'Mine at last' })).status).toBe(200);
    const { code, out } = await kiln('remove', 'users.edits');
    expect(code).toBe(0);
    expect(out).toMatch(/^users\.edits@1\.2\.0: 0 resources removed$/m);
    expect(out).toContain('CodeSystem/whole was changed');
    expect(await titleOf('whole')).toBe('Mine at last');
    expect(await one.found('CodeSystem?_tag=urn:kiln:package|users.edits')).toEqual([]);
    for (const id of ['edited', 'taken', 'whole']) await one.send('DELETE', `CodeSystem/${id}`);
  });

  it('operations that it defines answer 501 and name the definition, where they are defined', async () => {
    const url = `${GUIDE}/OperationDefinition/count-beds`;
    const definition = {
      ...{
        resourceType: 'OperationDefinition',
        id: 'count-beds',
        url,
        version: '1.0.0',
        name: 'CountBeds',
        status: 'active',
      },
      ...{ kind: 'operation', code: 'count-beds', resource: ['Location'], system: false, type: true, instance: true },
    };
    const file = makePackage(folder, { name: 'users.operations', version: '1.0.0' }, [definition]);
    const call = (path: string, method = 'POST') => one.send(method, path);
    expect((await call('Location/$count-beds')).status).toBe(404);
    expect((await kiln('add', file)).code).toBe(0);
    await vi.waitFor(async () => {
      const { status, body } = await call('Location/$count-beds');
      expect(status).toBe(501);
      expect(body).toMatchObject({ resourceType: 'OperationOutcome', issue: [{ code: 'not-supported' }] });
      expect(JSON.stringify(body)).toContain(url);
    }, EVENTUALLY);
    expect((await call('Location/x/$count-beds', 'GET')).status).toBe(501);
    for (const path of ['$count-beds', 'Patient/$count-beds', 'Location/$count-bed'])
      expect((await call(path)).status, path).toBe(404);
    const entry = [{ request: { method: 'GET', url: 'Location/$count-beds' } }];
    const batch = await one.send('POST', '', { resourceType: 'Bundle', type: 'batch', entry });
    expect(batch.body).toMatchObject({ entry: [{ response: { status: expect.stringMatching(/^501/) } }] });
    expect((await kiln('remove', 'users.operations')).code).toBe(0);
    await vi.waitFor(async () => expect((await call('Location/$count-beds')).status).toBe(404), EVENTUALLY);
  });

  it('with a package go the dependencies that nothing needs any more; those that stay are named', async () => {
    const from = join(folder, 'needs');
    const make = (name: string, ...needs: string[]) =>
      makePackage(
        from,
        { name, version: '1.0.0', dependencies: Object.fromEntries(needs.map((each) => [each, '1.0.0'])) },
        [codeSystem(name.replace('.', '-'), `http://needs.example/${name}`)],
      );
    make('needs.shared');
    make('needs.own', 'needs.circle');
    make('needs.circle', 'needs.own');
    const guide = make('needs.guide', 'needs.shared', 'needs.own');
    const other = make('needs.other', 'needs.shared');
    expect((await kiln('add', guide, other)).code).toBe(0);
    const { code, out } = await kiln('remove', 'needs.guide');
    expect(code).toBe(0);
    expect(out.split('\n')).toEqual([
      'needs.guide@1.0.0: 1 resource removed',
      'needs.own@1.0.0 (nothing needs it any more): 1 resource removed',
      'needs.circle@1.0.0 (nothing needs it any more): 1 resource removed',
      'needs.shared@1.0.0 stays: it is needed by needs.other@1.0.0',
    ]);
    expect((await kiln('remove', 'needs.other')).out).toContain('needs.shared@1.0.0 (nothing needs it any more)');
    expect((await kiln('list')).out).not.toContain('needs.');
  });

  it('a topic that live Subscriptions need is neither changed nor removed', async () => {
    const trigger = (resource: string) => ({ resource, supportedInteraction: ['create'] });
    const guide = (version: string, resource: string) =>
      makePackage(folder, { name: 'users.topics', version }, [
        { ...topic('told', TOPIC_URL, trigger(resource), { version }), title: version },
      ]);
    expect((await kiln('add', guide('1.0.0', 'Patient'))).code).toBe(0);
    const told = (status: string) => put(subscription('told', 'https://nobody.example/told', { status }));
    expect((await told('requested')).status).toBe(201);
    const unusable = guide('1.1.0', 'NoSuchType');
    // A process takes the Subscription in some time after its write; a removal before that would be right.
    await vi.waitFor(async () => {
      const { err } = await kiln('add', unusable, '--dry-run');
      expect(err).toContain('1 live Subscription of SubscriptionTopic/told, which would change');
    }, EVENTUALLY);
    const removed = await kiln('remove', 'users.topics');
    expect(removed.code).toBe(1);
    expect(removed.err).toContain('1 live Subscription of SubscriptionTopic/told, which would be gone');
    expect((await kiln('add', unusable)).code).toBe(1);
    expect((await one.send('GET', 'SubscriptionTopic/told')).body).toMatchObject({ title: '1.0.0' });
    expect((await kiln('add', guide('1.2.0', 'Patient'))).code).toBe(0);
    expect((await told('off')).status).toBe(200);
    await vi.waitFor(async () => expect((await kiln('remove', 'users.topics')).code).toBe(0), EVENTUALLY);
    expect((await one.send('DELETE', 'Subscription/told')).status).toBeLessThan(300);
  });

  it('once it is removed, both servers are as they were; history and data stay', async () => {
    expect((await kiln('remove', 'example.guide')).out).toBe('example.guide@1.1.0: 8 resources removed');
    await onBoth(async (client) => {
      expect(await statement(client)).toBe(before);
      expect((await client.send('GET', 'Patient?ward=north')).status).toBe(400);
    });
    expect((await one.send('GET', 'CodeSystem/wards')).status).toBe(410);
    expect((await one.send('GET', 'Patient/good-patient')).status).toBe(200);
    expect((await kiln('list')).out).toBe('no packages');
  });

  it('examples come by --examples, by the usual rules', async () => {
    const { code, out, err } = await kiln('add', FIRST, '--examples');
    expect(out).toContain('examples of example.guide@1.0.0: 2 stored, 2 refused');
    expect(err).toContain('Patient-bad-patient.json: ');
    expect(code).toBe(1);
    expect((await kiln('check')).out).not.toContain('was changed');
    expect((await kiln('remove', 'example.guide')).code).toBe(0);
  });
}
