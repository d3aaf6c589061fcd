import { createHash } from 'node:crypto';

import type { Store } from '../../store/store.js';
import { readMaps } from './copy-maps.js';
import { digestOf, HashSum } from './tally.js';

/** Count, size and hash of the blobs, or of the map entries, of one store. */
export interface OtherTally {
  count: number;
  /** Bytes of the blobs; 0 for entries. */
  size: number;
  readonly hash: HashSum;
}

/** Result of comparing the blobs, or the map entries, of two stores. */
export interface OtherComparison {
  readonly source: OtherTally;
  readonly target: OtherTally;
  readonly differences: number;
  /** The first key that is not the same, in words. */
  readonly first?: string;
}

/**
 * Compares key, size and hash of all blobs. Those of the target are read for it; of the source it is known what they were
 * when they were stored.
 *
 * @throws the signal's reason where it was stopped
 */
export async function compareBlobs(
  source: Store['blobs'],
  target: Store['blobs'],
  signal: AbortSignal,
): Promise<OtherComparison> {
  const left = new Others();
  for (const { key, size, sha256 } of await source.list('')) left.add(key, digestOf(key, size, sha256), size);
  const right = new Others();
  for (const blob of await target.list('')) {
    signal.throwIfAborted();
    const found = await target.get(blob.key);
    const hash = createHash('sha256');
    let size = 0;
    for await (const bytes of found?.stream ?? []) {
      hash.update(bytes);
      size += bytes.length;
    }
    right.add(blob.key, digestOf(blob.key, size, hash.digest('hex')), size);
  }
  return compare(left, right, (key) => `the content ${key}`);
}

/** Compares map, key, value and expiry of all entries. Those that expire while it looks are left out. */
export async function compareMaps(
  source: Pick<Store['maps'], 'scan'>,
  target: Pick<Store['maps'], 'scan'>,
): Promise<OtherComparison> {
  const [left, right] = await Promise.all([readEntries(source), readEntries(target)]);
  const now = Date.now();
  const [a, b] = [left, right].map((entries) => {
    const side = new Others();
    for (const { name, digest, expires } of entries) if (expires > now) side.add(name, digest, 0);
    return side;
  });
  return compare(a!, b!, (name) => `the map entry ${name}`);
}

async function readEntries(maps: Pick<Store['maps'], 'scan'>) {
  const all: { readonly name: string; readonly digest: string; readonly expires: number }[] = [];
  for await (const entries of readMaps(maps)) {
    for (const { map, key, value, expires } of entries) {
      all.push({ name: `${map} ${key}`, digest: digestOf(map, key, value, expires), expires: expires ?? Infinity });
    }
  }
  return all;
}

/** One side: digests by keys. */
class Others {
  readonly digests = new Map<string, string>();
  readonly tally: OtherTally = { count: 0, size: 0, hash: new HashSum() };

  add(key: string, digest: string, size: number): void {
    this.digests.set(key, digest);
    this.tally.count++;
    this.tally.size += size;
    this.tally.hash.add(digest);
  }
}

function compare(left: Others, right: Others, name: (key: string) => string): OtherComparison {
  const words: string[] = [];
  for (const [key, digest] of left.digests) {
    const other = right.digests.get(key);
    if (other === undefined) words.push(`${name(key)} is not in the target`);
    else if (other !== digest) words.push(`${name(key)} is another in the target`);
  }
  for (const key of right.digests.keys()) {
    if (!left.digests.has(key)) words.push(`${name(key)} is not in the source`);
  }
  const found = { source: left.tally, target: right.tally, differences: words.length };
  return words[0] === undefined ? found : { ...found, first: words[0] };
}
