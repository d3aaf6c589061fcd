import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { findFiles } from '../../runtime/cli/load-files.js';
import { loadFiles } from '../../runtime/cli/loader.js';
import { openSqliteStore } from '../../runtime/store/sqlite/sqlite-store.js';
import type { Store } from '../../runtime/store/store.js';
import { toyExtract } from '../toy/extract.js';
import { toyTables } from '../toy/tables.js';

describe('kiln load', () => {
  let folder: string;
  let store: Store;
  const failures: string[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kiln-load-'));
    store = openSqliteStore('sqlite::memory:');
    failures.length = 0;
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  const file = (name: string, content: unknown): string => {
    const path = join(folder, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  const load = (...paths: string[]) =>
    loadFiles(findFiles(paths), { tables: toyTables, store, extract: toyExtract }, (path, reason) =>
      failures.push(`${path}: ${reason}`),
    );
  const none = { created: 0, updated: 0, unchanged: 0, failed: 0, skipped: 0 };

  it('takes folders with all below, skipping what is no resource', async () => {
    file('a.json', { resourceType: 'Patient', id: 'a' });
    file('deep/er/b.json', { resourceType: 'Basic', id: 'b' });
    file('package.json', { name: 'x', version: '1' });
    file('.index.json', '{"files":[]}');
    file('README.md', '# x');
    expect(await load(folder)).toEqual({ ...none, created: 2, skipped: 3 });
    expect((await store.read('Basic', 'b'))?.version).toBe(1);
  });

  it('changes nothing the second time, and only what changed the third', async () => {
    for (let i = 0; i < 450; i++) file(`${i}.json`, { resourceType: 'Patient', id: `p${i}` });
    expect(await load(folder)).toEqual({ ...none, created: 450 });
    expect(await load(folder)).toEqual({ ...none, unchanged: 450 });
    file('7.json', { resourceType: 'Patient', id: 'p7', active: true });
    await store.write([{ type: 'Patient', id: 'p8', expected: 1 }]);
    expect(await load(folder)).toEqual({ ...none, created: 1, updated: 1, unchanged: 448 });
    expect((await store.read('Patient', 'p7'))?.version).toBe(2);
    expect((await store.read('Patient', 'p8'))?.version).toBe(3);
  });

  it('names each file that fails with its reason, and takes the rest', async () => {
    file('1.json', '{"resourceType":"Patient"');
    file('2.json', { resourceType: 'Nothing', id: 'x' });
    file('3.json', { resourceType: 'Patient', id: 'a_b' });
    file('4.json', { resourceType: 'Patient', id: 'meta', meta: [] });
    file('5.json', { resourceType: 'Patient', id: 'good' });
    file('6.json', Buffer.from([0x7b, 0xff]).toString('latin1'));
    expect(await load(folder)).toEqual({ ...none, created: 1, failed: 5 });
    expect(await store.read('Patient', 'good')).toBeDefined();
    const told = failures.sort().map((line) => line.slice(folder.length + 1));
    expect(told).toEqual([
      '1.json: Line 1, column 26: expected "," or "}"',
      '2.json: unknown resource type "Nothing"',
      '3.json: An id is 1 to 64 letters, digits, "-" and "."',
      '4.json: Patient.meta has to be an object',
      expect.stringContaining('6.json: Line 1'),
    ]);
  });

  it('a file that is named has to be a resource', async () => {
    const other = file('other.json', { name: 'x' });
    const xml = file('a.xml', '<Patient/>');
    expect(await load(other, xml)).toEqual({ ...none, failed: 2 });
    expect(failures.join()).toMatch(/no resourceType.*only JSON/);
    await expect(load(join(folder, 'none.json'))).rejects.toThrow('none.json');
  });

  it('gives an id where there is none', async () => {
    const path = file('new.json', { resourceType: 'Patient' });
    expect(await load(path, path)).toEqual({ ...none, created: 2 });
    expect(await store.counts()).toEqual(new Map([['Patient', 2]]));
  });

  it('the same resource twice in one load builds on itself', async () => {
    const one = file('1.json', { resourceType: 'Patient', id: 'p', name: [{ family: 'A' }] });
    const two = file('2.json', { resourceType: 'Patient', id: 'p', name: [{ family: 'B' }] });
    expect(await load(one, two, two)).toEqual({ ...none, created: 1, updated: 1, unchanged: 1 });
    expect((await store.read('Patient', 'p'))?.version).toBe(2);
  });

  it('loses nothing that a server writes at the same time', async () => {
    for (let i = 0; i < 300; i++) file(`${i}.json`, { resourceType: 'Patient', id: `p${i}`, active: true });
    // A store that, between reading and writing of each batch, has somebody else write one of its resources.
    let races = 0;
    const racing: Store = {
      ...store,
      async write(changes) {
        if (changes.length > 1) {
          races++;
          const { id, expected } = changes[5] ?? { id: '', expected: 0 };
          const body = { head: `{"resourceType":"Patient","id":"${id}","meta":{`, tail: '}}' };
          await store.write([{ type: 'Patient', id, expected, body, entries: [] }]);
        }
        return store.write(changes);
      },
    };
    const core = { tables: toyTables, store: racing, extract: toyExtract };
    const counts = await loadFiles(findFiles([folder]), core, (path, reason) => failures.push(`${path}: ${reason}`));
    expect(races).toBe(2);
    expect(failures).toEqual([]);
    expect(counts).toEqual({ ...none, created: 298, updated: 2 });
  });
});
