import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { create } from 'tar';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { untar, type TarEntry } from '../../../runtime/cli/load/untar.js';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kiln-untar-'));
  mkdirSync(join(folder, 'in'));
  writeFileSync(join(folder, 'outside.json'), '"outside"');
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A tar archive of files of `folder/in`, as bytes. */
async function pack(names: readonly string[], options: { readonly portable?: boolean } = {}): Promise<Buffer> {
  const file = join(folder, 'made.tar');
  await create({ file, cwd: join(folder, 'in'), preservePaths: true, ...options }, [...names]);
  return readFileSync(file);
}

async function read(bytes: Buffer, step = 1000, limit = 1_000_000): Promise<TarEntry[]> {
  async function* chunks(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
  }
  const found: TarEntry[] = [];
  for await (const file of untar(chunks(), (name) => name.endsWith('.json'), limit)) found.push(file);
  return found;
}

function write(name: string, content: string): void {
  writeFileSync(join(folder, 'in', name), content);
}

describe('untar', () => {
  it('yields wanted files with their content, however the bytes are cut', async () => {
    write('a.json', '{"a":1}');
    write('empty.json', '');
    write('b.txt', 'not wanted');
    write('large.json', `"${'x'.repeat(5000)}"`);
    const bytes = await pack(['a.json', 'b.txt', 'empty.json', 'large.json']);
    for (const step of [1, 511, 512, 513, 100_000]) {
      const found = await read(bytes, step);
      expect(found.map(({ name, content }) => [name, content?.toString().length])).toEqual([
        ['a.json', 7],
        ['empty.json', 0],
        ['large.json', 5002],
      ]);
    }
  });

  it('lets a file above the limit pass without its content, and reads on', async () => {
    write('large.json', `"${'x'.repeat(5000)}"`);
    write('small.json', '1');
    expect(await read(await pack(['large.json', 'small.json']), 700, 5001)).toEqual([
      { name: 'large.json', content: undefined },
      { name: 'small.json', content: Buffer.from('1') },
    ]);
  });

  it('knows names longer than a header holds', async () => {
    const name = `${'n'.repeat(200)}.json`;
    write(name, '1');
    expect((await read(await pack([name])))[0]).toEqual({ name, content: Buffer.from('1') });
  });

  it('writes no file and follows no link, whatever the names say', async () => {
    write('in.json', '1');
    symlinkSync('../outside.json', join(folder, 'in', 'link.json'));
    const bytes = await pack(['../outside.json', 'link.json', 'in.json']);
    rmSync(join(folder, 'outside.json'));
    const found = await read(bytes);
    expect(found.map(({ name }) => name)).toEqual(['../outside.json', 'in.json']);
    expect(() => readFileSync(join(folder, 'outside.json'))).toThrow('ENOENT');
  });

  it('says where bytes are no archive, and where one ends too early', async () => {
    write('a.json', JSON.stringify('x'.repeat(5000)));
    const bytes = await pack(['a.json']);
    await expect(read(bytes.subarray(0, 2000))).rejects.toThrow('the archive ends too early');
    await expect(read(Buffer.alloc(4096, 'no archive '))).rejects.toThrow('not a tar archive');
    await expect(read(Buffer.from('short'))).rejects.toThrow('not a tar archive');
    await expect(read(Buffer.alloc(0))).rejects.toThrow('not a tar archive');
  });
});
