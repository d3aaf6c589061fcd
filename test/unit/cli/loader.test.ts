import { DEFAULT_SERVICES } from '../../../runtime/core/default-services.js';
import { OPERATOR } from '../../../runtime/auth/scopes/principal.js';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { ConfigError } from '../../../runtime/config/config-error.js';
import { findFiles, type FoundFile } from '../../../runtime/cli/load/find-files.js';
import { readItems, type ItemOptions } from '../../../runtime/cli/load/items.js';
import { loadItems } from '../../../runtime/cli/load/load-items.js';
import { readDocuments } from '../../../runtime/cli/load/read-documents.js';
import { storeSink } from '../../../runtime/cli/load/store-sink.js';
import { DEFAULT_LIMITS } from '../../../runtime/fhir/limits.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { createServices } from '../../../runtime/http/create-services.js';
import { executeBundle } from '../../../runtime/interactions/bundle/bundle.js';
import { openSqliteStore } from '../../../runtime/store/sqlite/sqlite-store.js';
import { FhirError } from '../../../runtime/fhir/errors.js';
import type { Store } from '../../../runtime/store/store.js';
import { toyExtract } from '../../toy/extract.js';
import { toyTables } from '../../toy/tables.js';

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
    writeFileSync(path, typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content));
    return path;
  };
  const loadInto = async (into: Store, paths: string[], options: Partial<ItemOptions> = {}, resource?: number) =>
    loadFound(into, await findFiles(paths), options, resource);
  const loadFound = async (
    into: Store,
    found: readonly FoundFile[],
    options: Partial<ItemOptions> = {},
    resource = 100_000,
  ) => {
    const documents = readDocuments(found);
    const items = readItems(documents, {
      resourceTypes: [...toyTables.resourceTypes, 'Bundle'],
      bundles: 'store',
      ...options,
    });
    const limits = { ...DEFAULT_LIMITS, resource };
    const { services } = createServices({ tables: toyTables, store: into, extract: toyExtract, limits });
    const execute = async (body: Resource): Promise<string> => {
      const call = {
        interaction: 'bundle' as const,
        principal: OPERATOR,
        params: new URLSearchParams(),
        conditions: {},
        prefer: {},
      };
      return (await executeBundle({ ...call, base: '', body }, services)).json ?? '';
    };
    const sink = storeSink({
      ...DEFAULT_SERVICES,
      tables: toyTables,
      store: into,
      extract: toyExtract,
      limits,
      execute,
    });
    return loadItems(items, sink, (place, error) => failures.push(`${place}: ${(error as Error).message}`));
  };
  const load = (...paths: string[]) => loadInto(store, paths);
  const apply = (...paths: string[]) => loadInto(store, paths, { bundles: 'apply' });
  const told = () => failures.sort().map((line) => line.replace(`${folder}/`, ''));
  const none = { created: 0, updated: 0, unchanged: 0, failed: 0, skipped: 0, bundles: 0 };

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
    file('6.json', Buffer.from([0x7b, 0xff]));
    expect(await load(folder)).toEqual({ ...none, created: 1, failed: 5 });
    expect(await store.read('Patient', 'good')).toBeDefined();
    expect(told()).toEqual([
      '1.json: Line 1, column 26: expected "," or "}"',
      '2.json: unknown resource type "Nothing"',
      '3.json: An id is 1 to 64 letters, digits, "-" and "."',
      '4.json: Patient.meta has to be an object',
      expect.stringContaining('6.json: Line 1'),
    ]);
  });

  it('a file that is named has to be a resource', async () => {
    const other = file('other.json', { name: 'x' });
    const text = file('a.txt', 'x');
    expect(await load(other, text)).toEqual({ ...none, failed: 2 });
    expect(told().join()).toMatch(/a.txt: not a file that can be loaded, by its name.*other.json.*no resourceType/);
  });

  it('a path that does not exist ended a load half-way: each such is named before anything is loaded', async () => {
    const good = file('good.json', { resourceType: 'Patient', id: 'good' });
    spawnSync('mkfifo', [join(folder, 'fifo.json')]);
    const wrong = ['none', 'good.json/below', 'fifo.json'].map((name) => join(folder, name));
    await expect(load(good, ...wrong)).rejects.toThrow(
      new ConfigError(
        `nothing was loaded: ${wrong[0]}: does not exist; ${wrong[1]}: does not exist; ` +
          `${wrong[2]}: neither a file nor a folder`,
      ),
    );
    expect(await store.counts()).toEqual(new Map());
  });

  it('paths that do not exist were named in any order: it is that in which they were given', async () => {
    const paths = Array.from({ length: 200 }, (_, i) => `${'d/'.repeat(i % 7)}none${i}`);
    const told = paths.map((path) => `${path}: does not exist`).join('; ');
    await expect(findFiles(paths)).rejects.toThrow(`nothing was loaded: ${told}`);
  });

  it('what vanished during a load ended it: it fails, and the rest is loaded', async () => {
    const names = ['1.json', '2.ndjson', '3.ndjson.gz', '4.tgz'];
    for (const name of [...names, '5.json']) file(name, { resourceType: 'Patient', id: 'a' });
    symlinkSync(join(folder, 'nowhere'), join(folder, '6.json'));
    const found = await findFiles([folder]);
    for (const name of names) rmSync(join(folder, name));
    expect(await loadFound(store, found)).toEqual({ ...none, created: 1, failed: 5 });
    expect(told()).toEqual([...names, '6.json'].map((name) => expect.stringMatching(`^${name}: ENOENT`)));
  });

  it('a folder that may not be read ended a load: it fails, and the rest is loaded', async () => {
    file('closed/a.json', { resourceType: 'Patient', id: 'a' });
    file('open.json', { resourceType: 'Patient', id: 'b' });
    chmodSync(folder, 0o755);
    chmodSync(join(folder, 'closed'), 0);
    // Root may read everything.
    const isRoot = process.getuid?.() === 0;
    if (isRoot) process.seteuid?.(65534);
    const found = await findFiles([folder]).finally(() => isRoot && process.seteuid?.(0));
    expect(await loadFound(store, found)).toEqual({ ...none, created: 1, failed: 1 });
    expect(told()).toEqual([expect.stringMatching(/^closed: EACCES/)]);
  });

  it('a FIFO in a folder held a load up for ever, and a link to a folder failed: both are skipped', async () => {
    const target = file('elsewhere/target.txt', { resourceType: 'Patient', id: 'a' });
    mkdirSync(join(folder, 'in'));
    spawnSync('mkfifo', [join(folder, 'in/fifo.json')]);
    symlinkSync('/dev/zero', join(folder, 'in/device.ndjson'));
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'in/folder.json'));
    symlinkSync(target, join(folder, 'in/link.json'));
    expect(await load(join(folder, 'in'))).toEqual({ ...none, created: 1, skipped: 3 });
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
          const content = { resourceType: 'Patient', id };
          await store.write([{ type: 'Patient', id, expected, body, content, entries: [] }]);
        }
        return store.write(changes);
      },
    };
    const counts = await loadInto(racing, [folder]);
    expect(races).toBe(2);
    expect(failures).toEqual([]);
    expect(counts).toEqual({ ...none, created: 298, updated: 2 });
  });

  it('writes in smaller pieces what is too much for one transaction', async () => {
    for (let i = 0; i < 30; i++) file(`${i}.json`, { resourceType: 'Patient', id: `p${i}`, active: true });
    const sizes: number[] = [];
    const small: Store = {
      ...store,
      async write(changes) {
        sizes.push(changes.length);
        if (changes.length > 10) throw new FhirError('transaction-too-large');
        return store.write(changes);
      },
    };
    expect(await loadInto(small, [folder])).toEqual({ ...none, created: 30 });
    expect(failures).toEqual([]);
    expect(sizes).toEqual([30, 15, 8, 7, 15, 8, 7]);
  });

  it('writes no more at once than what is within it allows', async () => {
    const contained = Array.from({ length: 4000 }, (_, n) => ({
      resourceType: 'Patient',
      id: `m${n}`,
      name: [{ family: 'x' }],
    }));
    for (let i = 0; i < 5; i++) file(`${i}.json`, { resourceType: 'Patient', id: `p${i}`, contained });
    const sizes: number[] = [];
    const watched: Store = { ...store, write: (changes) => (sizes.push(changes.length), store.write(changes)) };
    expect(await loadInto(watched, [folder], {}, 10_000_000)).toEqual({ ...none, created: 5 });
    expect(failures).toEqual([]);
    expect(sizes).toEqual([2, 2, 1]);
  });

  const patient = (id: string, more = {}) => ({ resourceType: 'Patient', id, ...more });

  it('takes NDJSON line by line, naming the lines that fail', async () => {
    const lines = [JSON.stringify(patient('a')), '', '{"resourceType":', '{}', JSON.stringify(patient('b'))];
    file('x.ndjson', `${lines.join('\r\n')}`);
    file('y.ndjson.gz', gzipSync(`${JSON.stringify(patient('c'))}\n`));
    file('z.json.gz', gzipSync(JSON.stringify(patient('d'))));
    file('broken.json.gz', gzipSync('{}').subarray(0, 12));
    file('broken.ndjson.gz', 'no gzip');
    expect(await load(folder)).toEqual({ ...none, created: 4, failed: 4 });
    expect(told()).toEqual([
      expect.stringMatching(/^broken.json.gz: unexpected end/),
      expect.stringMatching(/^broken.ndjson.gz: incorrect header/),
      expect.stringMatching(/^x.ndjson:3: Line 1, column 1[78]/),
      expect.stringMatching(/^x.ndjson:4: not a resource/),
    ]);
  });

  it('takes packages, with long names, skipping what is no resource', async () => {
    const long = `package/${'folder/'.repeat(15)}long.json`;
    for (const [name, content] of [
      ['package/package.json', { name: 'x' }],
      ['package/a.json', patient('a')],
      [long, patient('long')],
      ['package/bad.json', '{'],
      ['package/b.ndjson', `${JSON.stringify(patient('b'))}\n{`],
    ] as const) {
      file(`in/${name}`, content);
    }
    const { create } = await import('tar');
    await create({ gzip: true, file: join(folder, 'x.tgz'), cwd: join(folder, 'in') }, ['package']);
    await create({ gzip: true, file: join(folder, 'y.tar.gz'), cwd: join(folder, 'in'), portable: true }, ['package']);
    file('cut.tgz', gzipSync(Buffer.alloc(700, 'x')));
    const counts = await load(join(folder, 'x.tgz'), join(folder, 'y.tar.gz'), join(folder, 'cut.tgz'));
    expect(counts).toEqual({ ...none, created: 3, unchanged: 3, failed: 5, skipped: 2 });
    expect(told()).toEqual([
      'cut.tgz: not a tar archive',
      expect.stringMatching('^x.tgz/package/b.ndjson:2: Line 1'),
      expect.stringMatching('^x.tgz/package/bad.json: Line 1'),
      expect.stringMatching('^y.tar.gz/package/b.ndjson:2: Line 1'),
      expect.stringMatching('^y.tar.gz/package/bad.json: Line 1'),
    ]);
  });

  it('refuses XML as long as nothing reads it, and uses what does', async () => {
    const xml = file('a.xml', '<Patient xmlns="http://hl7.org/fhir"><id value="x"/></Patient>');
    expect(await load(xml)).toEqual({ ...none, failed: 1 });
    expect(told()).toEqual(['a.xml: XML cannot be loaded yet, only JSON and NDJSON']);
    const readXml = () => Promise.resolve(patient('x'));
    expect(await loadInto(store, [xml], { readXml })).toEqual({ ...none, created: 1 });
  });

  const collection = (...entry: unknown[]) => ({ resourceType: 'Bundle', id: 'c', type: 'collection', entry });

  it('stores Bundles as they are, unless they are to be applied', async () => {
    const path = file('c.json', collection({ resource: patient('a') }, { resource: patient('b') }));
    expect(await load(path)).toEqual({ ...none, created: 1, bundles: 1 });
    expect(await apply(path)).toEqual({ ...none, created: 2 });
    expect(await apply(path)).toEqual({ ...none, unchanged: 2 });
  });

  it('applied entries without id take it from their fullUrl, and references follow', async () => {
    const uuid = '0c3151bd-1cbf-4d64-b04d-cd9187a4c6e0';
    const path = file(
      'c.json',
      collection(
        { fullUrl: `urn:uuid:${uuid}`, resource: { resourceType: 'Patient' } },
        {
          fullUrl: 'http://x/fhir/Basic/7',
          resource: { resourceType: 'Basic', subject: { reference: `urn:uuid:${uuid}` } },
        },
        { resource: patient('a', { generalPractitioner: [{ reference: 'urn:uuid:other' }] }) },
        { resource: patient('a', { active: true }) },
        { fullUrl: 'urn:x:a:1', resource: patient('', { id: undefined }) },
        { resource: { resourceType: 'Basic', id: '8', subject: { reference: 'urn:x:a:1' } } },
        { response: { status: '200' } },
        { resource: { resourceType: 'Nothing', id: 'x' } },
      ),
    );
    expect(await apply(path)).toEqual({ ...none, created: 5, updated: 1, failed: 2 });
    expect((await store.read('Basic', '8'))?.json).toContain('"reference":"Patient/x-a-1"');
    expect((await store.read('Basic', '7'))?.json).toContain(`"reference":"Patient/${uuid}"`);
    expect((await store.readVersion('Patient', 'a', 1))?.json).toContain('urn:uuid:other');
    expect(told()).toEqual([
      'c.json entry[6]: the entry has no resource',
      'c.json entry[7]: unknown resource type "Nothing"',
    ]);
  });

  it('executes batches and transactions that are applied, and stores documents whole', async () => {
    const put = (id: string, more = {}) => ({
      resource: patient(id, more),
      request: { method: 'PUT', url: `Patient/${id}` },
    });
    const bundle = (id: string, type: string, ...entry: object[]) =>
      file(`${id}.json`, { resourceType: 'Bundle', id, type, ...(entry.length === 0 ? {} : { entry }) });
    const get = { request: { method: 'GET', url: 'Patient/t1' } };
    const paths = [
      bundle('a', 'transaction', put('t1'), put('t2'), get),
      bundle('b', 'batch', put('t1'), put('t2', { active: true }), {
        request: { method: 'DELETE', url: 'Patient/t3' },
      }),
      bundle('c', 'document'),
      bundle('d', 'transaction', put('t4'), put('t1', { id: 'other' })),
      bundle('e', 'batch', put('t5'), put('t6', { id: 'other' })),
    ];
    expect(await apply(...paths)).toEqual({
      ...none,
      created: 4,
      updated: 1,
      unchanged: 2,
      failed: 2,
      bundles: 1,
    });
    expect(told()).toEqual([
      'd.json: Bundle.entry[1].resource.id: The body has the id "other", the URL "t1"',
      'e.json entry[1]: 400 Bad Request: The body has the id "other", the URL "t6"',
    ]);
    expect(await store.read('Patient', 't4')).toBeUndefined();
  });

  it('says what to do about a resource that is too large', async () => {
    const text = 'x'.repeat(120_000);
    const big = file(
      'big.json',
      collection(
        { resource: patient('a', { language: text.slice(0, 60_000) }) },
        { resource: patient('b', { language: text.slice(60_000) }) },
      ),
    );
    expect(await load(big, file('p.json', patient('p', { language: text })))).toEqual({ ...none, failed: 2 });
    expect(told()).toEqual([
      'big.json: too large (file: 117.4 kB): a resource with its index entries may have 97.7 kB; take this Bundle apart with --bundles apply, or raise the limit with --limits-resource',
      'p.json: too large (file: 117.2 kB): a resource with its index entries may have 97.7 kB; raise the limit with --limits-resource',
    ]);
    expect(await apply(big)).toEqual({ ...none, created: 2 });
  });
});
