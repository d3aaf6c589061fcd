import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { beforeEach, expect, it } from 'vitest';

import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import type { MapEntry, RestoredVersion, ScannedVersion, Store, StoredVersion } from '../../../runtime/store/store.js';
import { deletion, put, useStore, type Subject } from '../subject.js';

/** What `kiln copy` builds on: everything can be read in order, and put in again as it was. */
export function copyBehaviour(on: Subject): void {
  const subject = useStore(on);
  let store: Store;
  beforeEach(() => {
    store = subject.store;
  });

  /** An empty store of the same kind. */
  async function another(): Promise<Store> {
    const place = `${subject.place}/another`;
    mkdirSync(place);
    return subject.adopt(on.url(place));
  }

  async function scanAll(of: Store, limit = 100, after?: string): Promise<ScannedVersion[]> {
    const all: ScannedVersion[] = [];
    for (;;) {
      const page = await of.scan(after, limit);
      expect(page.versions.length).toBeLessThanOrEqual(limit);
      expect(page.next === undefined).toBe(page.versions.length === 0);
      if (page.next === undefined) return all;
      all.push(...page.versions);
      after = page.next;
    }
  }

  const name = ({ type, id, version }: StoredVersion): string =>
    `${type === 'Patient' ? '' : `${type}/`}${id}${version}`;
  const token: IndexEntry = { kind: 'token', param: 'code', system: 'urn:s', code: 'x' };

  function toRestored({ isCurrent, ...stored }: ScannedVersion): RestoredVersion {
    if (stored.json === undefined) return stored;
    const content = JSON.parse(stored.json) as RestoredVersion['content'] & object;
    return { ...stored, content, ...(isCurrent ? { entries: [token] } : {}) };
  }

  function version(id: string, number: number, lastUpdated: number, text = 'x'): RestoredVersion {
    const content = { resourceType: 'Patient', id, meta: { versionId: `${number}` }, text };
    return {
      type: 'Patient',
      id,
      version: number,
      lastUpdated,
      json: JSON.stringify(content),
      content,
      entries: [token],
    };
  }

  /** Several versions, a deletion, a revival, two types. */
  async function fill(): Promise<void> {
    await store.write([put('a', 0, 'one', [token]), put('b', 0, 'x', [token], 'Basic')]);
    await store.write([put('a', 1, 'two \u{1f525} "\\')]);
    await store.write([deletion('a', 2), put('c', 0)]);
    await store.write([put('a', 3, 'back'), put('d', 0)]);
    await store.write([deletion('d', 1)]);
  }
  const ORDER = ['a1', 'Basic/b1', 'a2', 'a3', 'c1', 'a4', 'd1', 'd2'];

  it('a scan shows every version once, oldest first: history turned round', async () => {
    expect(await store.scan(undefined, 10)).toEqual({ versions: [] });
    await fill();
    for (const limit of [1, 2, 3, 100]) {
      const all = await scanAll(store, limit);
      expect(all.map(name)).toEqual(ORDER);
      expect(all.filter(({ isCurrent }) => isCurrent).map(name)).toEqual(['Basic/b1', 'c1', 'a4', 'd2']);
      const { versions } = await store.history({ count: 100 });
      expect(all.map(({ isCurrent: _isCurrent, ...stored }) => stored)).toEqual([...versions].reverse());
    }
  });

  it('a scan goes on with what is written meanwhile, and after its end with what has come since', async () => {
    await fill();
    const first = await store.scan(undefined, 3);
    await store.write([put('a', 4, 'later')]);
    const rest = await scanAll(store, 100, first.next);
    expect([...first.versions, ...rest].map(name)).toEqual([...ORDER, 'a5']);
    const whole = await store.scan(undefined, 100);
    expect((await store.scan(whole.next, 100)).versions).toEqual([]);
    await store.write([put('e', 0)]);
    expect((await store.scan(whole.next, 100)).versions.map(name)).toEqual(['e1']);
  });

  it('a scan of large versions takes several pieces', async () => {
    for (let n = 0; n < 4; n++) await store.write([put('a', n, 'x'.repeat(7_000_000))]);
    const { versions, next } = await store.scan(undefined, 100);
    expect(versions.length).toBeLessThan(4);
    expect([...versions, ...(await scanAll(store, 100, next))].map(name)).toEqual(['a1', 'a2', 'a3', 'a4']);
  });

  it('a scan refuses a place that is none', async () => {
    for (const after of ['', '!', '[1', "1'--"]) {
      await expect(store.scan(after, 1)).rejects.toMatchObject({ code: 'parameter-invalid' });
      await expect(store.maps.scan(after, 1)).rejects.toMatchObject({ code: 'parameter-invalid' });
    }
  });

  it.each([1, 3, 100])('what was scanned can be restored, %i at a time, as it was', async (limit) => {
    await fill();
    const copy = await another();
    const scanned = await scanAll(store);
    for (let at = 0; at < scanned.length; at += limit) {
      const piece = scanned.slice(at, at + limit).map(toRestored);
      expect(await copy.restore(piece)).toBe(piece.length);
      expect(await copy.restore(piece)).toBe(0);
    }
    expect(await scanAll(copy)).toEqual(scanned);
    expect(await copy.counts()).toEqual(await store.counts());
    for (const id of ['a', 'c', 'd', 'none']) {
      expect(await copy.read('Patient', id)).toEqual(await store.read('Patient', id));
    }
    expect(await copy.readVersion('Patient', 'a', 2)).toEqual(await store.readVersion('Patient', 'a', 2));
    for (const scope of [{}, { type: 'Patient' }, { type: 'Patient', id: 'a' }]) {
      const { complete: _complete, ...was } = await store.history({ ...scope, count: 100 });
      expect(await copy.history({ ...scope, count: 100 })).toMatchObject(was);
    }
    const { lastUpdated } = scanned[3]!;
    const at = { from: lastUpdated, to: lastUpdated };
    expect((await copy.history({ at, count: 9 })).versions).toEqual((await store.history({ at, count: 9 })).versions);
  });

  it('what was restored is changed like anything else', async () => {
    await fill();
    const copy = await another();
    await copy.restore((await scanAll(store)).map(toRestored));
    await expect(copy.write([put('a', 3)])).rejects.toMatchObject({ name: 'VersionConflict', actual: 4 });
    const before = Date.now();
    const [next, revived] = await copy.write([put('a', 4, 'next'), put('d', 2, 'again')]);
    expect(next).toMatchObject({ version: 5 });
    expect(revived).toMatchObject({ version: 3 });
    expect(next!.lastUpdated).toBeGreaterThanOrEqual(before - 5000);
    expect((await scanAll(copy)).map(name)).toEqual([...ORDER, 'a5', 'd3']);
  });

  it('restores times that are equal, and long ago', async () => {
    const all = [version('a', 1, 1000), version('b', 1, 1000), version('c', 1, 1000), version('a', 2, 1001)];
    expect(await store.restore(all)).toBe(4);
    expect((await store.history({ count: 9 })).versions[0]).toMatchObject({ id: 'a', version: 2, lastUpdated: 1001 });
    const found = await store.history({ since: 1000, count: 9 });
    expect(new Set(found.versions.map(name))).toEqual(new Set(['a1', 'b1', 'c1', 'a2']));
    expect((await store.history({ since: 1001, count: 9 })).total).toBe(1);
  });

  it('a restore does all or nothing, and names what does not fit', async () => {
    await store.restore([version('a', 1, 1000), version('b', 1, 2000)]);
    const fits = version('c', 1, 3000);
    const wrong: [RestoredVersion, RegExp][] = [
      [version('b', 1, 2000, 'other'), /Patient\/b\/_history\/1 is here already/],
      [version('b', 1, 2001), /Patient\/b\/_history\/1 is here already/],
      [version('b', 3, 4000), /Patient\/b\/_history\/3 does not follow/],
      [version('d', 2, 4000), /Patient\/d\/_history\/2 does not follow/],
    ];
    for (const [one, message] of wrong) {
      await expect(store.restore([fits, one])).rejects.toThrow(message);
      expect(await store.read('Patient', 'c')).toBeUndefined();
    }
    // They are here: that they are skipped does not hide the one that is not.
    expect(await store.restore([version('a', 1, 1000), version('b', 1, 2000), fits])).toBe(1);
    expect((await scanAll(store)).map(name)).toEqual(['a1', 'b1', 'c1']);
    expect(await store.restore([])).toBe(0);
  });

  it('maps are walked through with the times at which they expire', async () => {
    expect(await store.maps.scan(undefined, 10)).toEqual({ entries: [] });
    const expires = Date.now() + 3_600_000;
    const entries: MapEntry[] = [
      { map: 'a', key: 'k', value: 'one' },
      { map: 'a', key: 'é "\\ \u{1f525}', value: '{"two":2}', expires },
      { map: 'b', key: 'k', value: '' },
      { map: 'b c', key: 'd', value: 'three' },
    ];
    for (const { map, key, value, expires: until } of entries) {
      expect(await store.maps.swap(map, key, undefined, value, until)).toBe(true);
    }
    await store.maps.swap('a', 'gone', undefined, 'x', Date.now() - 60_000);
    for (const limit of [1, 3, 100]) {
      const all: MapEntry[] = [];
      let after: string | undefined;
      do {
        const page = await store.maps.scan(after, limit);
        expect(page.entries.length).toBeLessThanOrEqual(limit);
        all.push(...page.entries);
        after = page.next;
      } while (after !== undefined);
      expect(all).toHaveLength(entries.length);
      expect(all).toEqual(expect.arrayContaining(entries));
    }
  });

  it('blobs are listed with what identifies their content', async () => {
    const content = Buffer.alloc(300_000, 7);
    const before = Date.now();
    await store.blobs.put('b/1', (async function* () { yield content; })(), 1e9); // prettier-ignore
    const [listed, ...rest] = await store.blobs.list('');
    expect(rest).toEqual([]);
    const sha256 = createHash('sha256').update(content).digest('hex');
    expect(listed).toMatchObject({ key: 'b/1', size: content.length, sha256 });
    expect(Math.abs(listed!.put - before)).toBeLessThan(60_000);
  });
}
