import { beforeEach, describe, expect, it } from 'vitest';

import { endPublication, PUBLISH, readPublication } from '../../../runtime/core/bulk-data/publication.js';
import { publishOn } from '../../../runtime/jobs/export/publish.js';
import type { Store } from '../../../runtime/store/store.js';
import { LAB } from '../auth/support.js';
import { neededBy } from '../auth/scoped.js';
import { expectRefusal } from '../write-server.js';
import { jobsServer, linesOf } from './jobs-server.js';

interface Item {
  readonly type: string;
  readonly url: string;
  readonly count: number;
}

interface Manifest {
  readonly transactionTime: string;
  readonly epochStartTime: string;
  readonly updateCadence: string;
  readonly output: readonly Item[];
  readonly deleted: readonly Item[];
}

const TYPES = ['Organization', 'Practitioner'];
const SCOPES = 'system/Organization.rs system/Practitioner.rs';
const DAY = 24 * 3_600_000;

/** `$bulk-publish`, on any store. */
export function publications(store: Store): void {
  const settings = { types: TYPES, every: 60_000 };
  const server = jobsServer(store, { publish: settings, allowsExpunge: true });
  const { all, jobs } = server;
  const client = (scopes = SCOPES) => server.as(scopes, 'reader');
  const below = (url: string): string => url.replace(/^.*?\/fhir/, '');
  let clock = Date.now();
  const look = (types = TYPES) => publishOn({ store, jobs, settings: { ...settings, types }, now: () => clock });

  /** So much time goes by that it is time, and what is started then is published. */
  async function publish(types = TYPES): Promise<void> {
    clock += settings.every;
    await look(types);
    await server.finish();
    await look(types);
    // Where it begins anew.
    await server.finish();
    await look(types);
  }

  async function manifest(): Promise<Manifest> {
    const answer = await client().send('GET', '/$bulk-publish');
    expect(answer.status, answer.text).toBe(200);
    return answer.json() as Manifest;
  }

  const read = async ({ url, count }: Item) => {
    const answer = await client().send('GET', below(url));
    expect(answer.status, answer.text).toBe(200);
    const lines = linesOf(answer.text);
    expect(lines).toHaveLength(count);
    return lines;
  };

  /** What a client knows that takes manifests as they come: it reads each file once. */
  function consumer() {
    const known = new Map<string, string>();
    const seen = new Set<string>();
    /** Versions that came in files after the snapshot. */
    const came: string[] = [];
    let epoch = '';
    return {
      known,
      came,
      async take(): Promise<void> {
        const { epochStartTime, output, deleted } = await manifest();
        const isNew = epochStartTime !== epoch;
        if (isNew) known.clear();
        epoch = epochStartTime;
        const fresh = (items: readonly Item[]) => items.filter(({ url }) => !seen.has(url));
        for (const item of fresh(output)) {
          for (const { resourceType, id, meta } of (await read(item)) as {
            resourceType: string;
            id: string;
            meta: { versionId: string };
          }[]) {
            known.set(`${resourceType}/${id}`, meta.versionId);
            if (!isNew) came.push(`${resourceType}/${id}/${meta.versionId}`);
          }
        }
        for (const item of fresh(deleted)) {
          for (const { entry } of (await read(item)) as unknown as { entry: { request: { url: string } }[] }[])
            for (const { request } of entry) known.delete(request.url);
        }
        for (const { url } of [...output, ...deleted]) seen.add(url);
      },
    };
  }

  /** What there is. */
  async function stored(): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (const type of TYPES) {
      const { entry = [] } = (await all.send('GET', `/${type}?_count=1000`)).json() as {
        entry?: { resource: { id: string; meta: { versionId: string } } }[];
      };
      for (const { resource } of entry) found.set(`${type}/${resource.id}`, resource.meta.versionId);
    }
    return found;
  }

  let n = 0;
  const put = (id: string, type = 'Organization') =>
    all.send('PUT', `/${type}/${id}`, { resourceType: type, id, language: `x-${(n++).toString(36)}` });
  const remove = (id: string, type = 'Organization') => all.send('DELETE', `/${type}/${id}`);

  beforeEach(async () => {
    await endPublication(store);
    for (const job of await jobs.list()) if (job.type === PUBLISH) await jobs.cancel(job.id);
    for (const type of [...TYPES, 'Location']) {
      const { entry = [] } = (await all.send('GET', `/${type}?_count=1000`)).json() as {
        entry?: { resource: { id: string } }[];
      };
      for (const { resource } of entry) await remove(resource.id, type);
    }
  });

  it('leaves nothing of a store that it is a copy of', async () => {
    async function* some(): AsyncIterable<Uint8Array> {
      yield Buffer.from('{}\n');
    }
    await store.blobs.put(`${PUBLISH}/old/1-0`, some(), Infinity);
    await put('a');
    await publish();
    expect((await store.blobs.list(`${PUBLISH}/`)).map(({ key }) => key)).toHaveLength(1);
    expect((await manifest()).output).toHaveLength(1);
  });

  it('offers all resources of its types, and says when nothing is new', async () => {
    expectRefusal(await client().send('GET', '/$bulk-publish'), 503, 'not-open');
    for (const id of ['a', 'b']) await put(id);
    await put('c', 'Practitioner');
    await publish();
    const answer = await client().send('GET', '/$bulk-publish');
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers['content-type']).toContain('application/json');
    const { output, deleted, ...rest } = answer.json() as Manifest;
    expect(rest).toMatchObject({ updateCadence: 'PT60S', epochStartTime: rest.transactionTime });
    expect(output.map(({ type, count }) => `${type} ${count}`).sort()).toEqual(['Organization 2', 'Practitioner 1']);
    expect(deleted).toEqual([]);
    const reader = consumer();
    await reader.take();
    expect(reader.known).toEqual(await stored());
    const etag = String(answer.headers['etag']);
    const again = await client().send('GET', '/$bulk-publish', undefined, { 'if-none-match': etag });
    expect([again.status, again.text, again.headers['etag']]).toEqual([304, '', etag]);
    await put('d');
    await publish();
    expect((await client().send('GET', '/$bulk-publish', undefined, { 'if-none-match': etag })).status).toBe(200);
  });

  it('neither misses nor repeats a change from one manifest to the next', async () => {
    for (const id of ['a', 'b', 'c', 'd']) await put(id);
    await publish();
    const reader = consumer();
    await reader.take();
    const { epochStartTime } = await manifest();
    const written: string[] = [];
    for (let round = 0; round < 5; round++) {
      clock += settings.every;
      // Some before the job begins, some while it waits, some while it works.
      await put(`before-${round}`);
      await put('a');
      await look();
      await put(`while-${round}`);
      await put('b');
      if (round === 2) await remove('c');
      await Promise.all([server.finish(), put(`beside-${round}`), put('d')]);
      await look();
      written.push(...['before', 'while', 'beside'].map((each) => `Organization/${each}-${round}/1`));
      await reader.take();
    }
    await publish();
    await reader.take();
    expect(reader.known).toEqual(await stored());
    expect((await manifest()).epochStartTime).toBe(epochStartTime);
    expect(new Set(reader.came).size).toBe(reader.came.length);
    expect(reader.came).toEqual(expect.arrayContaining(written));
    // Who looks for the first time finds the same.
    const late = consumer();
    await late.take();
    expect(late.known).toEqual(reader.known);
  });

  it('begins anew where something comes again that was deleted', async () => {
    for (const id of ['a', 'b']) await put(id);
    await publish();
    const first = await manifest();
    await remove('a');
    await publish();
    const second = await manifest();
    expect(second).toMatchObject({ epochStartTime: first.epochStartTime, deleted: [{ type: 'Bundle', count: 1 }] });
    expect(second.output).toEqual(first.output);
    await put('a');
    await publish();
    const third = await manifest();
    expect(third.epochStartTime).toBe(third.transactionTime);
    expect(third.epochStartTime > second.transactionTime).toBe(true);
    const late = consumer();
    await late.take();
    expect(late.known).toEqual(await stored());
    // Downloads that are under way end well; a day later the files are gone.
    await read(first.output[0]!);
    clock += DAY;
    await look();
    expect((await client().send('GET', below(first.output[0]!.url))).status).not.toBe(200);
    await read(third.output[0]!);
    const keys = (await store.blobs.list(`${PUBLISH}/`)).length;
    expect(keys).toBe(third.output.length);
  });

  it('is for tokens that show all of it', async () => {
    await put('a');
    await publish();
    const [file] = (await manifest()).output;
    for (const scopes of [
      'system/Organization.rs',
      'system/*.r',
      `system/Organization.rs system/Practitioner.rs${LAB}`,
      'system/Patient.rs',
    ]) {
      for (const path of ['/$bulk-publish', below(file!.url)]) {
        const answer = await client(scopes).send('GET', path);
        expect([path, answer.status, neededBy(answer)]).toEqual([path, 403, SCOPES]);
      }
    }
    expect((await client('system/*.rs').send('GET', below(file!.url))).status).toBe(200);
    expect((await server.send('GET', '/$bulk-publish')).status).toBe(401);
  });

  it('shows nothing any more that was removed for good', async () => {
    for (const id of ['a', 'b']) await put(id);
    await publish();
    const before = await manifest();
    await remove('a');
    const parameter = [{ name: 'expungeDeletedResources', valueBoolean: true }];
    const removed = await all.send('POST', '/Organization/a/$expunge', { resourceType: 'Parameters', parameter });
    expect(removed.status, removed.text).toBe(200);
    expect((await client('system/*.rs').send('GET', below(before.output[0]!.url))).status).toBe(404);
    expect(await store.blobs.list(`${PUBLISH}/`)).toEqual([]);
    await publish();
    const reader = consumer();
    await reader.take();
    expect(reader.known).toEqual(await stored());
  });

  it('is made by one process of several, and again where its job came to nothing', async () => {
    await put('a');
    clock += settings.every;
    await Promise.all([look(), look(), look()]);
    const running = (await jobs.list()).filter(({ type, state }) => type === PUBLISH && state === 'queued');
    expect(running).toHaveLength(1);
    await jobs.cancel(running[0]!.id);
    await look();
    expectRefusal(await client().send('GET', '/$bulk-publish'), 503, 'not-open');
    await publish();
    expect((await manifest()).output).toHaveLength(1);
    // Two take in what was made.
    await put('b');
    clock += settings.every;
    await look();
    await server.finish();
    await Promise.all([look(), look()]);
    const { output } = await manifest();
    expect(new Set(output.map(({ url }) => url)).size).toBe(2);
    for (const item of output) await read(item);
    expect((await readPublication(store))?.publication.next).toBeUndefined();
  });

  it('begins anew with other types', async () => {
    await put('a');
    await put('b', 'Location');
    await publish();
    const first = await manifest();
    await publish(['Location']);
    expect((await client().send('GET', '/$bulk-publish')).status).toBe(403);
    const answer = await client('system/Location.rs').send('GET', '/$bulk-publish');
    expect((answer.json() as Manifest).output.map(({ type }) => type)).toEqual(['Location']);
    await read(first.output[0]!);
    expect((await client('system/Location.rs').send('GET', below(first.output[0]!.url))).status).toBe(403);
  });

  describe('where nothing is published', () => {
    const without = jobsServer(store);

    it('is not offered', async () => {
      const answer = await without.as('system/*.rs', 'reader').send('GET', '/$bulk-publish');
      expect(answer.status).toBe(405);
      expect(answer.text).toContain('the setting publish.types allows it');
      expect((await without.all.send('GET', '/metadata')).text).not.toContain('bulk-publish');
      expect((await server.all.send('GET', '/metadata')).text).toContain('bulk-publish');
    });
  });
}
