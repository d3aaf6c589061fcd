import { reportOf, type Finding } from './finding.js';

/** Shard keys of collections, as docs/scaling.md has them; others stay unsharded. */
const WANTED: Readonly<Record<string, string>> = {
  resource: '{ _id: "hashed" }',
  history: '{ _id: "hashed" }',
  map: '{ _id: "hashed" }',
  'blob.chunks': '{ files_id: 1, n: 1 }',
};

/** How many shards of a cluster with these keys each kind of request asks. A test compares it with docs/scaling.md, which MongoDB's commands are held to. */
const TARGETS: readonly (readonly [shards: string, kinds: string])[] = [
  ['targeted to one shard', 'read, vread; create'],
  ['targeted to few', 'update, patch, delete; batch of reads; transaction of updates; search by `_id`'],
  [
    'scattered to all',
    'search by another parameter; chains, `_has`, includes; conditional create, update, delete; history of a resource; history of a type, of all',
  ],
];

/** Explains how requests spread over the shards of a cluster. */
export function explainSharding(): Finding[] {
  const report = reportOf('sharding');
  return TARGETS.map(([shards, kinds]) => report.fine(`${shards}: ${kinds}`));
}

/** Judges the shard keys of a cluster. @param keys in JSON-like text, by collection; undefined: it is a replica set, or the user may not ask */
export function judgeShardKeys(keys: ReadonlyMap<string, string> | undefined): Finding[] {
  const report = reportOf('sharding');
  if (keys === undefined) return [report.fine('no sharded cluster: one replica set answers everything')];
  const names = new Set([...Object.keys(WANTED), ...keys.keys()]);
  return [...names].map((name) => {
    const [has, wanted] = [keys.get(name), WANTED[name]];
    if (has === wanted) return report.fine(`${name} is sharded by ${has}`);
    if (wanted === undefined)
      return report.warning(`${name} is sharded by ${has}`, 'leave it unsharded: unshardCollection');
    const text = has === undefined ? `${name} is not sharded` : `${name} is sharded by ${has}`;
    return report.warning(text, `shard it by ${wanted}, or each command asks more shards than it has to`);
  });
}
