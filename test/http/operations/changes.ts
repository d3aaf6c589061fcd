import { expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { scopedServer } from '../auth/scoped.js';
import { batch, responsesOf } from '../bundles/bundle-server.js';
import { codeOf, type Answer, type ToyServer } from '../server.js';

interface FeedBundle {
  readonly link: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly { readonly request: { readonly method: string; readonly url: string }; readonly response: { readonly etag: string } }[]; // prettier-ignore
}

type Sender = Pick<ToyServer, 'send'>;

/** `$changes` */
export function changes(store: Store): void {
  let contents = 0;
  const counted = new Proxy(store, {
    get(target, name: keyof Store) {
      if (name === 'readVersion') contents++;
      const value: unknown = target[name];
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  const server = scopedServer(counted);
  const get = (path: string, who: Sender = server.all) => who.send('GET', path);
  const put = (id: string, more = {}, type = 'Patient') =>
    server.all.send('PUT', `/${type}/${id}`, { resourceType: type, id, ...more });

  function read(answer: Answer): FeedBundle {
    expect(answer.status, answer.text).toBe(200);
    const bundle = answer.json();
    expect(bundle).toMatchObject({ resourceType: 'Bundle', type: 'history' });
    return bundle;
  }

  const toldBy = ({ entry = [] }: FeedBundle): string[] =>
    entry.map(({ request: { method, url }, response: { etag } }) => `${method} ${url} ${etag.replace(/\D/g, '')}`);

  const nextOf = ({ link }: FeedBundle): string => {
    const { url } = link.find(({ relation }) => relation === 'next')!;
    return url.slice(url.indexOf('/fhir') + 5);
  };

  /** Follows `next` until so many versions have come. */
  async function walk(from: string, count: number, who: Sender = server.all): Promise<[string[], string]> {
    const told: string[] = [];
    let next = from;
    for (let i = 0; i < 50 && told.length < count; i++) {
      const bundle = read(await get(`${next}&wait=2`, who));
      told.push(...toldBy(bundle));
      next = nextOf(bundle);
    }
    return [told, next];
  }

  const begin = async (path = '/$changes', who: Sender = server.all): Promise<string> =>
    nextOf(read(await get(path, who)));

  /** MongoDB numbers what was acknowledged a moment later, so that a feed that begins now may still tell of it. */
  async function settled(): Promise<void> {
    let next = await begin();
    for (;;) {
      const bundle = read(await get(`${next}&wait=1`));
      if (bundle.entry === undefined) return;
      next = nextOf(bundle);
    }
  }

  it('tells every version once, oldest first, deletions too', async () => {
    const from = await begin();
    await put('a');
    await put('a', { active: true });
    await put('o', { code: { text: 'x' } }, 'Basic');
    await server.all.send('DELETE', '/Patient/a');
    const expected = ['PUT Patient/a 1', 'PUT Patient/a 2', 'PUT Basic/o 1', 'DELETE Patient/a 3'];
    const [told, next] = await walk(from, 4);
    expect(told).toEqual(expected);
    // An empty page has a link too, and it goes on from there.
    const empty = read(await get(next));
    expect(empty.entry).toBeUndefined();
    await put('b');
    expect((await walk(nextOf(empty), 1))[0]).toEqual(['PUT Patient/b 1']);
    // In small pages the same.
    const small = read(await get(`${from}&_count=1&wait=2`));
    expect(toldBy(small)).toEqual(expected.slice(0, 1));
    expect((await walk(nextOf(small), 4))[0]).toEqual([...expected.slice(1), 'PUT Patient/b 1']);
  });

  it('reads no more contents than an answer has room for', { timeout: 60_000 }, async () => {
    const from = await begin();
    const div = `<div xmlns="http://www.w3.org/1999/xhtml">${'x'.repeat(1.5 * 2 ** 20)}</div>`;
    const expected = Array.from({ length: 30 }, (_, i) => `PUT Patient/large${i} 1`);
    for (let i = 0; i < 30; i++) await put(`large${i}`, { text: { status: 'generated', div } });
    contents = 0;
    const first = read(await get(`${from}&wait=2`));
    expect(contents).toBeLessThan(20);
    const told = toldBy(first);
    expect(told.length).toBeGreaterThan(5);
    expect([...told, ...(await walk(nextOf(first), 30 - told.length))[0]]).toEqual(expected);
  });

  it('of a type, and of some types', async () => {
    const [ofType, ofTypes] = [await begin('/Patient/$changes'), await begin('/$changes?_type=Basic,Group')];
    await put('t1');
    await put('t2', { code: { text: 'x' } }, 'Basic');
    expect((await walk(ofType, 1))[0]).toEqual(['PUT Patient/t1 1']);
    expect((await walk(ofTypes, 1))[0]).toEqual(['PUT Basic/t2 1']);
    expect(codeOf(await get('/$changes?_type=Nothing'))).toBe('parameter-invalid');
    expect(codeOf(await get('/Patient/$changes?_type=Patient'))).toBe('parameter-unknown');
  });

  it('waits for what comes', async () => {
    await settled();
    const from = await begin();
    const waiting = get(`${from}&wait=20`);
    await put('w');
    expect(toldBy(read(await waiting))).toEqual(['PUT Patient/w 1']);
  });

  it('begins at an instant', async () => {
    await begin();
    await put('i');
    await settled();
    const bundle = read(await get(`/$changes?_since=${new Date(Date.now() + 60_000).toISOString()}`));
    expect(bundle.entry).toBeUndefined();
    expect(codeOf(await get('/$changes?_since=yesterday'))).toBe('parameter-invalid');
  });

  it('refuses cursors that are none, or of another feed', async () => {
    const from = await begin();
    const cursor = new URLSearchParams(from.slice(from.indexOf('?'))).get('_cursor')!;
    // The last character of base64 has bits that say nothing, so that one before it is changed.
    const changed = `${cursor.slice(0, -3)}${cursor.at(-3) === 'A' ? 'B' : 'A'}${cursor.slice(-2)}`;
    expect(codeOf(await get(`/$changes?_cursor=${changed}`))).toBe('page-invalid');
    expect(codeOf(await get('/$changes?_cursor=1'))).toBe('page-invalid');
    expect(codeOf(await get(`/Patient/$changes?_cursor=${cursor}`))).toBe('page-invalid');
    expect(codeOf(await get(`/$changes?_cursor=${cursor}&_type=Patient`))).toBe('parameter-invalid');
  });

  it('shows what the token may search and read, and nothing else', async () => {
    const laboratory = server.as('system/Observation.rs?category=laboratory');
    const observation = (id: string, code: string) =>
      put(id, { status: 'final', code: { text: 'x' }, category: [{ coding: [{ code }] }] }, 'Observation');
    await settled();
    const from = await begin('/$changes', laboratory);
    await observation('lab', 'laboratory');
    await observation('vital', 'vital-signs');
    await put('p');
    await observation('lab', 'vital-signs');
    await observation('lab2', 'laboratory');
    await server.all.send('DELETE', '/Observation/vital');
    await server.all.send('DELETE', '/Observation/lab2');
    const [told] = await walk(from, 3, laboratory);
    expect(told).toEqual(['PUT Observation/lab 1', 'PUT Observation/lab2 1', 'DELETE Observation/lab2 2']);
    // The cursor belongs to no client.
    expect((await walk(from, 7))[0]).toHaveLength(7);
    expect((await get('/$changes', server.as('system/Patient.s'))).status).toBe(403);
    expect((await get('/Basic/$changes', laboratory)).status).toBe(403);
    expect((await get('/$changes?_type=Basic', laboratory)).status).toBe(403);
  });

  it('waits for nothing in a Bundle', async () => {
    const begun = performance.now();
    const answer = await server.all.send('POST', '', batch({ request: { method: 'GET', url: '$changes?wait=30' } }));
    expect(responsesOf(answer)[0]).toMatchObject({ status: '200 OK' });
    expect(performance.now() - begun).toBeLessThan(25_000);
  });
}
