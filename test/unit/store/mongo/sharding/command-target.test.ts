import { expect, it } from 'vitest';

import { targetOf, type Target } from './command-target.js';

const CASES: readonly (readonly [string, object, Target | undefined])[] = [
  ['find', { find: 'resource', filter: { _id: 'Patient/a' } }, 'one'],
  ['find', { find: 'resource', filter: { _id: { $in: ['Patient/a'] } } }, 'one'],
  ['find', { find: 'resource', filter: { _id: { $in: ['Patient/a', 'Patient/b'] } } }, 'few'],
  ['find', { find: 'resource', filter: { _id: { $gt: 'Patient/a' } } }, 'all'],
  ['find', { find: 'resource', filter: { type: 'Patient' } }, 'all'],
  ['find', { find: 'resource', filter: { $and: [{ type: 'Patient' }, { _id: 'Patient/a' }] } }, 'one'],
  ['find', { find: 'map', filter: { _id: { map: 'm', key: 'k' } } }, 'one'],
  ['find', { find: 'change', filter: { _id: { $gt: 5 } } }, 'one'],
  ['find', { find: 'blob.chunks', filter: { files_id: 1, n: 0 } }, 'one'],
  ['insert', { insert: 'resource', documents: [{}] }, 'one'],
  ['insert', { insert: 'resource', documents: [{}, {}] }, 'few'],
  ['update', { update: 'resource', updates: [{ q: { _id: 'a' } }, { q: { type: 'b' } }] }, 'all'],
  ['delete', { delete: 'history', deletes: [{ q: { _id: 'a' } }] }, 'one'],
  ['aggregate', { aggregate: 'resource', pipeline: [{ $changeStream: {} }] }, 'all'],
  ['commitTransaction', { commitTransaction: 1 }, undefined],
];

it.each(CASES)('%s %j asks %s', (name, command, target) => {
  expect(targetOf(name, command)).toBe(target);
});
