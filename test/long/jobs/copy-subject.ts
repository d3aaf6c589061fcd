import { createHash } from 'node:crypto';

import { runProgram } from '../../../runtime/cli/program.js';
import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import { isSystemMap } from '../../../runtime/store/system-maps.js';
import type { MapEntry, ScannedVersion, Store } from '../../../runtime/store/store.js';
import { deletion, put } from '../../contract/subject.js';

/** What a command left. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command line in this process. */
export async function runKiln(...args: readonly string[]): Promise<Ran> {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runProgram(args, { out: (line) => out.push(line), err: (line) => err.push(line), env: {} });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

const ENTRIES: readonly IndexEntry[] = [{ kind: 'token', param: 'active', code: 'true' }];

/** Fills a store with something of everything. Each round adds new versions, and replaces a blob and a map entry. */
export async function fill(store: Store, round = 0): Promise<void> {
  for (let n = 0; n < 10; n++) {
    await store.write([
      put(`p${n}`, round * 2, `r${round} \u{1f525} "\\ ${n}`, ENTRIES),
      put(`b${n}`, round, 'x'.repeat(n * 1000), ENTRIES, 'Basic'),
      // No release has it: a type that a later or earlier one had.
      put(`u${n % 2}`, round * 5 + (n >> 1), 'unknown', ENTRIES, 'Unheard'),
    ]);
    await store.write([n % 3 === 0 ? deletion(`p${n}`, round * 2 + 1) : put(`p${n}`, round * 2 + 1, 'second')]);
  }
  for (const size of [0, 1, 700_000]) await putBlob(store, `binary/${size}`, Buffer.alloc(size, size + round));
  const { maps } = store;
  await maps.swap('page-keys', '20000', await maps.get('page-keys', '20000'), `key ${round}`, 9_000_000_000_000);
  await maps.swap('clients', `é "\\ ${round}`, undefined, '{"id":1}');
}

/** Stores a content. */
export async function putBlob({ blobs }: Store, key: string, content: Uint8Array): Promise<void> {
  await blobs.put(key, (async function* () { yield content; })(), 1e9); // prettier-ignore
}

/** All that a copy has to keep. */
export interface Content {
  readonly versions: readonly ScannedVersion[];
  readonly blobs: readonly (readonly [key: string, sha256: string])[];
  readonly maps: readonly MapEntry[];
}

/** Reads all of a store, by other ways than the copy does where there are some. */
export async function contentOf(store: Store): Promise<Content> {
  const versions: ScannedVersion[] = [];
  for (let after: string | undefined; ;) {
    const page = await store.scan(after, 1000);
    if (page.next === undefined) break;
    versions.push(...page.versions);
    after = page.next;
  }
  const blobs = [];
  for (const { key } of await store.blobs.list('')) {
    const hash = createHash('sha256');
    for await (const bytes of (await store.blobs.get(key))!.stream) hash.update(bytes);
    blobs.push([key, hash.digest('hex')] as const);
  }
  const { entries } = await store.maps.scan(undefined, 1000);
  const maps = entries.filter(({ map }) => !isSystemMap(map));
  return { versions, blobs, maps };
}
