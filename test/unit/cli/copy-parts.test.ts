import { describe, expect, it } from 'vitest';

import { openCopyRecord } from '../../../runtime/cli/copy/copy-record.js';
import { copyVersions } from '../../../runtime/cli/copy/copy-versions.js';
import { identify, isSameStore } from '../../../runtime/cli/copy/identify.js';
import { persist } from '../../../runtime/cli/copy/persist.js';
import { digestOf, HashSum } from '../../../runtime/cli/copy/tally.js';
import { FhirError } from '../../../runtime/fhir/errors.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { IS_CUT } from '../../../runtime/indexing/contained.js';
import type { RestoredVersion, Store } from '../../../runtime/store/store.js';
import { put } from '../../contract/subject.js';
import { createToyStore } from '../../toy/store.js';

describe('the name of a store', () => {
  it.each([
    ['mongodb://h', 'mongodb://h:27017/kiln'],
    ['mongodb://h/', 'mongodb://h:27017/kiln'],
    ['mongodb://user:pass%40word@B:1,a/db?replicaSet=rs&w=1', 'mongodb://a:27017,b:1/db'],
    ['mongodb+srv://user@cluster.example/db', 'mongodb+srv://cluster.example/db'],
    ['mongodb://[::1]:5/db', 'mongodb://[::1]:5/db'],
    ['sqlite:/nowhere/./a/../b.db', 'sqlite:/nowhere/b.db'],
  ])('of %s is %s', (url, name) => expect(identify(url)).toBe(name));

  it('tells stores apart', () => {
    expect(isSameStore('mongodb://h/a', 'mongodb://h/b')).toBe(false);
    expect(isSameStore('mongodb://h:1/a', 'mongodb://h:2/a')).toBe(false);
    expect(isSameStore('sqlite:/nowhere/a', 'sqlite:/nowhere/b')).toBe(false);
    expect(isSameStore('sqlite:/nowhere/a', 'mongodb://h/a')).toBe(false);
  });
});

describe('a sum of hashes', () => {
  const sumOf = (...digests: string[]): string => {
    const sum = new HashSum();
    for (const digest of digests) sum.add(digest);
    return String(sum);
  };

  it('does not depend on the order, and misses no change', () => {
    const [a, b, c] = [digestOf('a', 1), digestOf('b', 1), digestOf('c', 1)];
    expect(sumOf(a, b, c)).toBe(sumOf(c, a, b));
    expect(sumOf(a, a)).not.toBe(sumOf());
    expect(sumOf(a, a, b)).not.toBe(sumOf(b));
    expect(sumOf('f'.repeat(64), '2'.padStart(64, '0'))).toBe('1'.padStart(64, '0'));
    expect(digestOf('ab', 'c')).not.toBe(digestOf('a', 'bc'));
    expect(digestOf('a', undefined)).not.toBe(digestOf('a', 'null'));
  });
});

describe('patience with a store', () => {
  const never = new AbortController().signal;

  it('tries again while it is busy or away, not for other reasons', async () => {
    const codes = ['store-busy', 'store-unavailable'] as const;
    let tries = 0;
    const done = persist(async () => {
      const code = codes[tries++];
      if (code !== undefined) throw new FhirError(code);
      return 'done';
    }, never);
    expect(await done).toBe('done');
    expect(tries).toBe(3);
    for (const error of [new FhirError('resource-too-large'), new Error('a defect')]) {
      await expect(persist(() => Promise.reject(error), never)).rejects.toBe(error);
    }
  });

  it('ends, also where it is stopped', async () => {
    const busy = (): Promise<never> => Promise.reject(new FhirError('store-busy'));
    await expect(persist(busy, never, 10)).rejects.toMatchObject({ code: 'store-busy' });
    const controller = new AbortController();
    const stopped = persist(busy, controller.signal);
    setTimeout(() => controller.abort('SIGINT'), 20);
    await expect(stopped).rejects.toBe('SIGINT');
  });
});

describe('copying versions', () => {
  async function copy(source: Store, target: Store, more: Partial<Parameters<typeof copyVersions>[0]> = {}) {
    const unindexed: string[] = [];
    let count = 0;
    await copyVersions({
      source,
      target,
      extract: () => [],
      knownTypes: new Set(['Patient']),
      record: await openCopyRecord(source, target, 'source'),
      complete: Infinity,
      room: Infinity,
      signal: new AbortController().signal,
      onStep: (versions) => (count += versions),
      onUnindexed: ({ id }, reason) => unindexed.push(`${id}: ${reason}`),
      ...more,
    });
    return { count, unindexed };
  }

  it('copies what cannot be indexed, and tells of it', async () => {
    const source = createToyStore();
    await source.write([put('a', 0), put('b', 0), put('c', 0, 'x', [], 'Unheard')]);
    await source.write([put('a', 1)]);
    const restored: RestoredVersion[] = [];
    const toy = createToyStore();
    const target = { ...toy, restore: (all: readonly RestoredVersion[]) => (restored.push(...all), toy.restore(all)) };
    const extract = ({ id }: Resource) => {
      if (id === 'a') throw new Error('tables too old');
      return [{ kind: 'uri' as const, param: 'p', value: 'u' }];
    };
    const { count, unindexed } = await copy(source, target, { extract });
    expect(count).toBe(4);
    expect(unindexed).toEqual(['c: Unheard is no resource type', 'a: tables too old']);
    expect(restored.map(({ id, entries }) => [id, entries?.length])).toEqual([
      ['a', undefined],
      ['b', 1],
      ['c', 0],
      ['a', 0],
    ]);
    expect(restored[3]!.content).toMatchObject({ resourceType: 'Patient', id: 'a', meta: { versionId: '2' } });
  });

  it('copies what is within the current versions to be found as there', async () => {
    const source = createToyStore();
    const within = (code: string) => [{ resourceType: 'Patient', id: 'm', code }];
    const holding = (expected: number, contained: object[]) => ({
      ...put('a', expected),
      body: {
        head: '{"resourceType":"Patient","id":"a","meta":{',
        tail: `},"contained":${JSON.stringify(contained)}}`,
      },
    });
    await source.write([holding(0, within('old')), holding(1, within('new')), put('b', 0)]);
    const target = createToyStore();
    const extract = ({ code = '' }: Resource) => [{ kind: 'token' as const, param: 'code', code: code as string }];
    expect((await copy(source, target, { extract })).count).toBe(3);
    const found = async (code: string) => {
      const where = { param: 'code', any: [{ is: 'token' as const, code }] };
      const query = { type: '#Patient', where, sort: [], count: 10, total: 'none' } as const;
      return (await target.find(query)).versions.map(({ id, version }) => [id, version]);
    };
    expect([await found('new'), await found('old')]).toEqual([[['Patient/a#m', 2]], []]);
  });

  it('copies what contains more than is found, and tells of it once', async () => {
    const source = createToyStore();
    const contained = Array.from({ length: 5001 }, (_, n) => ({ resourceType: 'Patient', id: `m${n}` }));
    const body = {
      head: '{"resourceType":"Patient","id":"a","meta":{',
      tail: `},"contained":${JSON.stringify(contained)}}`,
    };
    await source.write([{ ...put('a', 0), body }]);
    await source.write([{ ...put('a', 1), body }]);
    const target = createToyStore();
    const told: unknown[] = [];
    const extract = ({ id }: Resource) => [{ kind: 'token' as const, param: 'code', code: id as string }];
    await copy(source, target, { extract, onUnindexed: ({ id }, ...rest) => told.push([id, ...rest]) });
    expect(told).toEqual([['a', 'more than 5000, or too much, is contained in it', 'contained']]);
    const page = { where: { all: [] }, sort: [], count: 0, total: 'accurate' } as const;
    expect((await target.find({ type: '#Patient', ...page })).total).toBe(5000);
    expect((await target.find({ type: 'Patient', ...page, where: IS_CUT })).total).toBe(1);
    const small = createToyStore();
    await copy(source, small, { extract, room: 4000 });
    const some = (await small.find({ type: '#Patient', ...page })).total!;
    expect(some).toBeGreaterThan(10);
    expect(some).toBeLessThan(100);
  });

  it('in pieces that a small cache takes, and in smaller ones where they are too large', async () => {
    const source = createToyStore();
    for (let n = 0; n < 10; n++) await source.write([put(`p${n}`, 0, 'x'.repeat(n === 9 ? 5_000_000 : 1_000_000))]);
    const toy = createToyStore();
    const pieces: string[] = [];
    const target: Store = {
      ...toy,
      async restore(all) {
        pieces.push(all.map(({ id }) => id.slice(1)).join(''));
        if (all.length > 2) throw new FhirError('transaction-too-large');
        return toy.restore(all);
      },
    };
    const extract = () => [{ kind: 'words' as const, param: '_content', text: `\n ${'x'.repeat(100_000)} ` }];
    expect((await copy(source, target, { extract })).count).toBe(10);
    expect(pieces).toEqual(['01234', '012', '01', '2', '34', '5678', '56', '78', '9']);
    expect((await target.readMany(['p0', 'p9'].map((id) => ({ type: 'Patient', id })))).map((each) => each?.version)).toEqual([1, 1]); // prettier-ignore
  });

  it('in pieces that have no more within them than one write may', async () => {
    const contained = Array.from({ length: 4000 }, (_, n) => ({ resourceType: 'Patient', id: `m${n}` }));
    const source = createToyStore();
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      const head = `{"resourceType":"Patient","id":"${id}","meta":{`;
      await source.write([{ ...put(id, 0), body: { head, tail: `},"contained":${JSON.stringify(contained)}}` } }]);
    }
    const toy = createToyStore();
    const pieces: number[] = [];
    const target = {
      ...toy,
      restore: (all: readonly RestoredVersion[]) => (pieces.push(all.length), toy.restore(all)),
    };
    const extract = ({ id = '' }: Resource) => [{ kind: 'token' as const, param: 'x', code: id as string }];
    expect((await copy(source, target, { extract })).count).toBe(5);
    expect(pieces).toEqual([2, 2, 1]);
  });

  it('remembers no place before which something may still appear', async () => {
    let time = 1000;
    const source = createToyStore(() => time);
    await source.write([put('a', 0)]);
    time = 2000;
    await source.write([put('b', 0)]);
    const target = createToyStore();
    await copy(source, target, { complete: 2000 });
    expect((await openCopyRecord(source, target, 'source')).cursor).toBeUndefined();
    await copy(source, createToyStore(), { complete: 2001 });
    const settled = createToyStore();
    await copy(source, settled, { complete: 2001 });
    expect((await openCopyRecord(source, settled, 'source')).cursor).toBe('2');
  });

  it('notices another copy into the same target', async () => {
    const [source, target] = [createToyStore(), createToyStore()];
    await source.write([put('a', 0)]);
    const record = await openCopyRecord(source, target, 'source');
    await copy(source, target);
    const last = (await source.read('Patient', 'a'))!;
    await expect(record.advance('7', last)).rejects.toThrow('another copy into the same target is running');
  });
});
