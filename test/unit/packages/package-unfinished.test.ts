import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { readRequest } from '../../../runtime/packages/read-request.js';
import { install, prepareAddition } from '../../../runtime/packages/install.js';
import { openPackages } from '../../../runtime/packages/open-packages.js';
import type { Store } from '../../../runtime/store/store.js';
import { codeSystem, makePackage } from '../../guides/make-package.js';
import { command } from '../../service/auth.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'kiln-unfinished-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const store = (): string => `sqlite:${join(folder, 'kiln.db')}`;
const kiln = (...args: string[]) => command('package', ...args, '--store', store());
const systems = (count: number, version = '1.0.0') =>
  Array.from({ length: count }, (_, i) => codeSystem(`s${i}`, `http://a.example/${i}`, { version }));

/** What a client writes. */
async function write(resource: object): Promise<void> {
  const file = join(folder, 'users.json');
  writeFileSync(file, JSON.stringify(resource));
  expect((await command('load', file, '--store', store())).code).toBe(0);
}

/** An addition that ends in the midst of it, as when it is killed. */
async function addHalf(file: string, { hasExamples = false } = {}): Promise<void> {
  const terminal = { out: () => {}, err: () => {}, env: {} };
  const request = await readRequest([file], { from: folder });
  const open = await openPackages({ store: store() }, terminal, 'write');
  const { store: whole } = open.core;
  let writes = 0;
  const half = new Proxy(whole, {
    get(target, name) {
      const member = Reflect.get(target, name, target) as unknown;
      if (typeof member !== 'function') return member;
      return (...args: never[]) => {
        if (name === 'write' && writes++ > 0) throw new Error('killed');
        return (member as (...all: never[]) => unknown).apply(target, args);
      };
    },
  }) as Store;
  const parts = { signal: new AbortController().signal, storeExamples: () => Promise.resolve() };
  const addition = await prepareAddition(request, open);
  const dying = { ...open, core: { ...open.core, store: half } };
  await expect(install({ ...request, hasExamples }, addition, dying, parts)).rejects.toThrow('killed');
  await whole.close();
}

describe('an addition that was killed', () => {
  it('and that a resource of a user stands against, is named with it, and can be undone', async () => {
    const file = makePackage(folder, { name: 'large.one', version: '1.0.0' }, systems(250));
    const other = makePackage(folder, { name: 'small.one', version: '1.0.0' }, [codeSystem('y', 'http://b.example/y')]);
    await addHalf(file);
    const mine = codeSystem('mine', 'http://a.example/200', { title: 'Mine' });
    await write(mine);
    for (const each of [other, file]) {
      const { code, err } = await kiln('add', each);
      expect(code).toBe(1);
      expect(err).toContain('http://a.example/200|1.0.0 has another content than CodeSystem/mine');
      expect(err).toContain('undo it: kiln package remove large.one');
    }
    const undone = await kiln('remove', 'large.one');
    expect({ code: undone.code, out: undone.out }).toEqual({
      code: 0,
      out: 'large.one@1.0.0: 100 resources removed',
    });
    expect((await kiln('check')).out).toBe('0 packages, 0 definitions: all as they came');
    expect((await kiln('add', other)).code).toBe(0);
    const trial = await kiln('add', file, '--dry-run');
    expect(trial.err).toContain('CodeSystem/mine, which no package brought');
  });

  it('is undone with what it needs; what was there before stays', async () => {
    const shared = codeSystem('s3', 'http://a.example/3');
    expect((await kiln('add', makePackage(folder, { name: 'small.one', version: '1.0.0' }, [shared]))).code).toBe(0);
    makePackage(folder, { name: 'needed.one', version: '1.0.0' }, [codeSystem('n', 'http://n.example')]);
    const dependencies = { 'needed.one': '1.0.0' };
    await addHalf(makePackage(folder, { name: 'large.one', version: '1.0.0', dependencies }, systems(250)));
    expect((await kiln('remove', 'large.one')).code).toBe(0);
    const { out } = await kiln('list');
    expect(out).toMatch(/^small\.one@1\.0\.0 {2}direct {2}1 definition /);
    expect(out).not.toContain('needed.one');
    expect((await kiln('check')).out).toBe('1 package, 1 definition: all as they came');
  });

  it('of a newer version is not finished over what a user changed meanwhile, unless with --replace', async () => {
    expect((await kiln('add', makePackage(folder, { name: 'large.one', version: '1.0.0' }, systems(250)))).code).toBe(
      0,
    );
    const newer = makePackage(folder, { name: 'large.one', version: '1.1.0' }, systems(250, '1.1.0'));
    await addHalf(newer);
    await write(codeSystem('s200', 'http://a.example/200', { title: 'Mine' }));
    const { code, err } = await kiln('add', newer);
    expect(code).toBe(1);
    expect(err).toContain('CodeSystem/s200 was changed since large.one@1.0.0 brought it');
    const replaced = await kiln('add', newer, '--replace');
    expect(replaced.code, replaced.err).toBe(0);
    expect((await kiln('check')).out).toBe('1 package, 250 definitions: all as they came');
  });

  it('and whose examples nobody has stored, is named when a removal finishes it', async () => {
    const file = makePackage(folder, { name: 'large.one', version: '1.0.0' }, systems(250));
    expect((await kiln('add', makePackage(folder, { name: 'small.one', version: '1.0.0' }))).code).toBe(0);
    await addHalf(file, { hasExamples: true });
    const { code, err } = await kiln('remove', 'small.one');
    expect(code).toBe(0);
    expect(err).toContain('the examples of large.one@1.0.0 are not stored');
    expect(err).toContain('--replace --examples');
    expect((await kiln('list')).out).toContain('large.one@1.0.0  direct  250 definitions');
  });
});
