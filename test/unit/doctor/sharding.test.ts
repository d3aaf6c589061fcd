import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

import { explainSharding, judgeShardKeys } from '../../../runtime/doctor/check-sharding.js';

const page = readFileSync(new URL('../../../docs/scaling.md', import.meta.url), 'utf8');

it('says of each kind of request what docs/scaling.md says, to which the commands of MongoDB are held', () => {
  const rows = [...page.matchAll(/^\| (.+?) +\| (one|few|all) +\|$/gm)].map(([, kind, shards]) => `${kind}: ${shards}`);
  expect(rows.length).toBeGreaterThan(8);
  const told = explainSharding().flatMap(({ text }) => {
    const [head = '', kinds = ''] = text.split(': ');
    return kinds.split('; ').map((kind) => `${kind}: ${head.includes('one') ? 'one' : head.split(' ').at(-1)}`);
  });
  expect(told.sort()).toEqual(rows.sort());
});

it('judges the keys of a cluster by those that docs/scaling.md names', () => {
  const good = new Map([
    ['resource', '{ _id: "hashed" }'],
    ['history', '{ _id: "hashed" }'],
    ['map', '{ _id: "hashed" }'],
    ['blob.chunks', '{ files_id: 1, n: 1 }'],
  ]);
  for (const [name, key] of good)
    expect(page).toMatch(new RegExp(`\`${name.replace('.', '\\.')}\`[^]*${key.slice(2, 6)}`));
  expect(judgeShardKeys(good).map(({ level }) => level)).toEqual(['fine', 'fine', 'fine', 'fine']);
  const wrong = new Map([...good, ['resource', '{ type: 1 }'], ['setting', '{ _id: 1 }']]);
  wrong.delete('map');
  expect(judgeShardKeys(wrong).map(({ level, text }) => `${level}: ${text}`)).toEqual([
    'warning: resource is sharded by { type: 1 }',
    'fine: history is sharded by { _id: "hashed" }',
    'warning: map is not sharded',
    'fine: blob.chunks is sharded by { files_id: 1, n: 1 }',
    'warning: setting is sharded by { _id: 1 }',
  ]);
  expect(judgeShardKeys(undefined)).toMatchObject([
    { level: 'fine', text: expect.stringContaining('no sharded cluster') as string },
  ]);
});
