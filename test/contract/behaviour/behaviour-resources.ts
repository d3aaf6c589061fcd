import { beforeEach, describe, expect, it } from 'vitest';

import { isSimple, type IndexEntry } from '../../../runtime/indexing/entry.js';
import { VersionConflict, type Store } from '../../../runtime/store/store.js';
import { put, useStore, type Subject } from '../subject.js';

/** Resources and their versions: reading, writing, counting. */
export function resourceBehaviour(on: Subject): void {
  const subject = useStore(on);
  let store: Store;
  beforeEach(() => {
    store = subject.store;
  });

  describe('reading', () => {
    it('knows nothing of what was never written', async () => {
      expect(await store.read('Patient', 'a')).toBeUndefined();
      expect(await store.readVersion('Patient', 'a', 1)).toBeUndefined();
      expect(await store.readMany([{ type: 'Patient', id: 'a' }])).toEqual([undefined]);
      expect(await store.counts()).toEqual(new Map());
    });

    it('gives back what was written, with version and time in its meta', async () => {
      const before = Date.now();
      const [written] = await store.write([put('a', 0, 'one')]);
      expect(written).toMatchObject({ type: 'Patient', id: 'a', version: 1 });
      // By the clock of the store, which may be on another machine.
      expect(Math.abs((written?.lastUpdated ?? 0) - before)).toBeLessThan(5000);
      expect(JSON.parse(written?.json ?? '')).toEqual({
        resourceType: 'Patient',
        id: 'a',
        meta: { versionId: '1', lastUpdated: new Date(written?.lastUpdated ?? 0).toISOString() },
        text: 'one',
      });
      expect(await store.read('Patient', 'a')).toEqual(written);
      expect(await store.readVersion('Patient', 'a', 1)).toEqual(written);
    });

    it('tells types and ids apart, ids by case too', async () => {
      await store.write([put('a', 0, 'p'), put('a', 0, 'b', [], 'Basic'), put('A', 0, 'P')]);
      expect((await store.read('Basic', 'a'))?.json).toContain('"b"');
      expect((await store.read('Patient', 'A'))?.json).toContain('"P"');
      expect((await store.read('Patient', 'a'))?.json).toContain('"p"');
    });

    it('reads many in the order of the keys', async () => {
      await store.write([put('a', 0), put('b', 0), put('c', 0)]);
      const keys = ['c', 'none', 'a', 'c'].map((id) => ({ type: 'Patient', id }));
      expect((await store.readMany(keys)).map((stored) => stored?.id)).toEqual(['c', undefined, 'a', 'c']);
      expect(await store.readMany([])).toEqual([]);
    });
  });

  describe('versions', () => {
    it('count from 1 without gaps, and each stays readable', async () => {
      for (let version = 0; version < 5; version++) await store.write([put('a', version, `v${version + 1}`)]);
      expect((await store.read('Patient', 'a'))?.version).toBe(5);
      for (let version = 1; version <= 5; version++) {
        const stored = await store.readVersion('Patient', 'a', version);
        expect(JSON.parse(stored?.json ?? '')).toMatchObject({
          text: `v${version}`,
          meta: { versionId: `${version}` },
        });
      }
      expect(await store.readVersion('Patient', 'a', 6)).toBeUndefined();
    });

    it('a deletion is one without content, after which they go on', async () => {
      await store.write([put('a', 0)]);
      const [deleted] = await store.write([{ type: 'Patient', id: 'a', expected: 1 }]);
      expect(deleted).toMatchObject({ version: 2 });
      expect(deleted?.json).toBeUndefined();
      expect(await store.read('Patient', 'a')).toEqual(deleted);
      expect((await store.readVersion('Patient', 'a', 1))?.json).toBeDefined();
      expect((await store.write([put('a', 2, 'again')]))[0]?.version).toBe(3);
      expect((await store.readVersion('Patient', 'a', 2))?.json).toBeUndefined();
    });

    it.each([
      ['is new but said to exist', 'new', 1, 0],
      ['exists but is said to be new', 'a', 0, 2],
      ['is further than said', 'a', 1, 2],
      ['is not so far as said', 'a', 3, 2],
    ])('refuses a write where the resource %s', async (_name, id, expected, actual) => {
      await store.write([put('a', 0)]);
      await store.write([put('a', 1)]);
      const failure = await store.write([put(id, expected)]).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(VersionConflict);
      expect(failure).toMatchObject({ type: 'Patient', id, expected, actual });
      expect((await store.read('Patient', id))?.version ?? 0).toBe(actual);
    });

    it('one refused change undoes the whole write', async () => {
      await store.write([put('a', 0, 'old')]);
      await expect(store.write([put('b', 0), put('a', 1, 'new'), put('c', 7)])).rejects.toBeInstanceOf(VersionConflict);
      expect((await store.read('Patient', 'a'))?.json).toContain('"old"');
      expect(await store.read('Patient', 'b')).toBeUndefined();
      // What the undone write brought along for the first time (types, parameters) can be written again.
      const entries: IndexEntry[] = [{ kind: 'token', param: 'code', system: 'urn:new', code: 'x' }];
      await expect(store.write([put('n', 0, 'x', entries, 'Basic'), put('c', 7)])).rejects.toThrow();
      expect(await store.write([put('n', 0, 'x', entries, 'Basic')])).toHaveLength(1);
      expect(await store.read('Basic', 'n')).toBeDefined();
      expect(await store.counts()).toEqual(
        new Map([
          ['Basic', 1],
          ['Patient', 1],
        ]),
      );
    });

    it('changes of one write are done in their order', async () => {
      const versions = await store.write([
        put('a', 0),
        put('a', 1),
        { type: 'Patient', id: 'a', expected: 2 },
        put('a', 3),
      ]);
      expect(versions.map(({ version }) => version)).toEqual([1, 2, 3, 4]);
      expect(await store.write([])).toEqual([]);
    });
  });

  describe('lastUpdated', () => {
    it('grows by a millisecond at least with each version, though the clock stands', async () => {
      const still = await subject.reopen({ now: () => 1_700_000_000_000 });
      for (let version = 0; version < 3; version++) await still.write([put('a', version)]);
      const times = await Promise.all([1, 2, 3].map((version) => still.readVersion('Patient', 'a', version)));
      expect(times.map((stored) => stored?.lastUpdated)).toEqual([
        1_700_000_000_000, 1_700_000_000_001, 1_700_000_000_002,
      ]);
    });
  });

  describe('content', () => {
    it.each([
      ['Unicode beyond the basic plane', '𝒦iln 🔥 \u{10ffff}'],
      ['what looks like SQL', `'; DROP TABLE resource; --`],
      ['line ends and the null character', 'a\r\n\u2028\u0000b'],
      ['composed and decomposed letters', 'é e\u0301'],
      ['fifteen megabytes', 'ä'.repeat(7_500_000)],
    ])('keeps %s', async (_name, text) => {
      const short = text.slice(0, 1000);
      const entries: IndexEntry[] = [{ kind: 'string', param: 'name', text: short, folded: short }];
      await store.write([put('a', 0, text, entries)]);
      const read = await store.read('Patient', 'a');
      expect(JSON.parse(read?.json ?? '').text === text).toBe(true);
    });

    it('takes every kind of index entry, with everything optional there or not', async () => {
      const simple: IndexEntry[] = [
        { kind: 'token', param: 't' },
        {
          kind: 'token',
          param: 't',
          system: 'urn:s',
          code: 'c',
          ofType: [{ code: 'x' }, { system: 'urn:y', code: 'x' }],
        },
        { kind: 'token', param: 't', system: 'urn:s', code: 'c', ofType: [{ code: 'x' }, { code: 'x' }] },
        { kind: 'string', param: 's', text: 'Ä', folded: 'a' },
        { kind: 'date', param: 'd' },
        { kind: 'date', param: 'd', low: -62_135_596_800_000, high: 253_402_300_799_999 },
        { kind: 'number', param: 'n', value: 1e300 },
        { kind: 'number', param: 'n', value: Infinity },
        { kind: 'quantity', param: 'q', value: 5.4 },
        { kind: 'quantity', param: 'q', value: 5, low: 5, system: 'http://unitsofmeasure.org', code: 'mg', unit: 'mg' },
        { kind: 'reference', param: 'r' },
        { kind: 'reference', param: 'r', type: 'Patient', id: '1', version: '2', base: 'http://x/fhir' },
        { kind: 'reference', param: 'r', url: 'urn:uuid:x', fragment: 'f', identifier: { value: 'v' } },
        { kind: 'uri', param: 'u', value: 'http://x' },
        { kind: 'position', param: 'p', latitude: -90, longitude: 180 },
        { kind: 'region', param: 'g', south: 0, west: 0, north: 1, east: 1, lines: [0, 0, 1, 1, 1, 0, 1, 1] },
      ];
      const parts = simple.filter(isSimple);
      const entries: IndexEntry[] = [
        ...simple,
        ...simple,
        { kind: 'composite', param: 'c', parts: [parts, [], parts] },
      ];
      await store.write([put('a', 0, 'x', entries)]);
      await store.write([put('a', 1, 'y', entries)]);
      await store.write([{ type: 'Patient', id: 'a', expected: 2 }]);
      expect((await store.read('Patient', 'a'))?.version).toBe(3);
    });
  });

  it('counts many types', async () => {
    const types = Array.from({ length: 200 }, (_, n) => `Type${n}`);
    await store.write(types.map((type) => put('a', 0, 'x', [], type)));
    expect(await store.counts()).toEqual(new Map(types.map((type) => [type, 1])));
  });

  it('counts what lives, by type', async () => {
    await store.write([put('a', 0), put('b', 0), put('c', 0), put('d', 0, 'x', [], 'Basic')]);
    await store.write([
      put('a', 1),
      { type: 'Patient', id: 'b', expected: 1 },
      { type: 'Basic', id: 'd', expected: 1 },
    ]);
    expect(await store.counts()).toEqual(new Map([['Patient', 2]]));
  });
}
