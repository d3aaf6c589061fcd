import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, it } from 'vitest';

import type { BlobStore } from '../../../runtime/store/store.js';
import { useStore, type Subject } from '../subject.js';

/** Bytes that no two pieces share. */
function bytes(length: number, seed = 1): Uint8Array {
  const all = new Uint8Array(length);
  for (let i = 0; i < length; i++) all[i] = (i * 31 + (i >> 8) * seed) & 255;
  return all;
}

async function* chunks(content: Uint8Array, size = 100_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}

/** Contents beside the resources. */
export function blobBehaviour(on: Subject): void {
  const subject = useStore(on);
  let blobs: BlobStore;
  beforeEach(() => {
    blobs = subject.store.blobs;
  });
  async function read(key: string, range?: { from: number; to: number }): Promise<Buffer | undefined> {
    const found = await blobs.get(key, range);
    if (found === undefined) return undefined;
    const parts: Uint8Array[] = [];
    for await (const part of found.stream) parts.push(part);
    return Buffer.concat(parts);
  }

  it('of any size come back as they were', async () => {
    for (const length of [0, 1, 262_143, 262_144, 262_145, 3_000_000]) {
      const content = bytes(length);
      const key = `k${length}`;
      const put = await blobs.put(key, chunks(content), 1e9);
      expect(put).toEqual({ size: length, sha256: createHash('sha256').update(content).digest('hex') });
      expect((await read(key))?.equals(content), key).toBe(true);
      expect((await blobs.get(key))?.size).toBe(length);
    }
  });

  it('of a range come as what is asked for', async () => {
    const content = bytes(600_000);
    await blobs.put('k', chunks(content), 1e9);
    for (const [from, to] of [
      [0, 0],
      [262_143, 262_144],
      [100, 299_999],
      [262_144, 524_287],
      [599_999, 599_999],
      [500_000, 9_999_999],
    ] as const) {
      const what = `${from} to ${to}`;
      expect((await read('k', { from, to }))?.equals(content.subarray(from, to + 1)), what).toBe(true);
      expect((await blobs.get('k', { from, to }))?.size, what).toBe(600_000);
    }
  });

  it('are there whole or not at all', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield bytes(600_000);
      expect(await blobs.get('k')).toBeUndefined();
      throw new Error('the client left');
    }
    await expect(blobs.put('k', broken(), 1e9)).rejects.toThrow('the client left');
    await expect(blobs.put('k', chunks(bytes(600_000)), 599_999)).rejects.toMatchObject({ code: 'body-too-large' });
    expect(await blobs.get('k')).toBeUndefined();
    expect(await blobs.list('')).toEqual([]);
    await blobs.put('k', chunks(bytes(10)), 10);
    await expect(blobs.put('k', broken2(), 1e9)).rejects.toThrow();
    expect((await read('k'))?.length).toBe(10);
    async function* broken2(): AsyncGenerator<Uint8Array> {
      yield bytes(600_000);
      throw new Error('again');
    }
  });

  it('are replaced and deleted without disturbing who reads them', async () => {
    const [old, young] = [bytes(1_000_000, 3), bytes(700_000, 5)];
    await blobs.put('k', chunks(old), 1e9);
    const reading = await blobs.get('k');
    await blobs.put('k', chunks(young), 1e9);
    expect((await read('k'))?.equals(young)).toBe(true);
    await blobs.delete('k');
    expect(await blobs.get('k')).toBeUndefined();
    await blobs.delete('k');
    const parts: Uint8Array[] = [];
    for await (const part of reading!.stream) parts.push(part);
    expect(Buffer.concat(parts).equals(old)).toBe(true);
  });

  it('are listed by prefix, in order', async () => {
    const before = Date.now();
    for (const key of ['b/2', 'a/1', 'b/1', 'ba']) await blobs.put(key, chunks(bytes(1)), 10);
    const listed = await blobs.list('b/');
    expect(listed.map(({ key }) => key)).toEqual(['b/1', 'b/2']);
    expect(listed[0]?.put).toBeGreaterThanOrEqual(before - 1);
    expect((await blobs.list('')).length).toBe(4);
  });

  it('take no more from the client than they store, nor from the store than is read', async () => {
    let given = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (; given < 200; given++) yield bytes(100_000);
    }
    await expect(blobs.put('k', endless(), 2_000_000)).rejects.toMatchObject({ code: 'body-too-large' });
    expect(given).toBeLessThan(40);
  });

  it('large ones let others write', async () => {
    let others = (): void => {};
    const written = new Promise<void>((resolve) => (others = resolve));
    async function* content(): AsyncGenerator<Uint8Array> {
      yield* chunks(bytes(20_000_000));
      // It ends after they have written: if they had to wait for it, neither would.
      await written;
      yield* chunks(bytes(20_000_000));
    }
    const upload = blobs.put('k', content(), 1e9);
    for (let n = 0; n < 10; n++) {
      expect(await subject.store.maps.swap('m', `${n}`, undefined, 'x')).toBe(true);
      await sleep(5);
    }
    others();
    await upload;
    expect((await blobs.get('k'))?.size).toBe(40_000_000);
  });
}
