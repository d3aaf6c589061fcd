import type { ClientSession } from 'mongodb';

import { matches, type Candidate } from '../../../search/query/match.js';
import type { Condition } from '../../../search/query/query.js';
import { keyOf, type Collections } from '../bson/documents.js';
import { onlyLeaf } from './merge-preconditions.js';

/** The tokens of resources, in the snapshot of a transaction. @param time how long it may take, in milliseconds */
export async function readTokens(
  resource: Collections['resource'],
  type: string,
  ids: readonly string[],
  session: ClientSession,
  time: number,
): Promise<Candidate[]> {
  const keys = ids.map((id) => keyOf({ type, id }));
  const projection = { id: 1, updated: 1, token: 1 } as const;
  const documents = await resource.find({ _id: { $in: keys } }, { session, projection, maxTimeMS: time }).toArray();
  return documents.map(({ id, updated, token = [] }) => ({
    id,
    lastUpdated: updated.getTime(),
    entries: token.map(({ p, code, system }) => ({
      kind: 'token',
      param: p,
      ...(code !== undefined && { code }),
      ...(system !== undefined && { system }),
    })),
  }));
}

/** Finds those of them that fulfil a condition on tokens, each once; with a code in the time that one takes, however many there are. */
export function openFinder(all: readonly Candidate[]): (where: Condition) => string[] {
  const byCode = new Map<string, Candidate[]>();
  for (const candidate of all) {
    for (const entry of candidate.entries) {
      if (entry.kind !== 'token' || entry.code === undefined) continue;
      const same = byCode.get(entry.code) ?? [];
      byCode.set(entry.code, same);
      same.push(candidate);
    }
  }
  return (where) => {
    const leaf = onlyLeaf(where);
    const tests = leaf !== undefined && 'any' in leaf ? leaf.any : [];
    const near = tests.flatMap((test) =>
      test.is === 'token' && test.code !== undefined ? (byCode.get(test.code) ?? []) : all,
    );
    return [...new Set(near)].filter((each) => matches(where, each)).map(({ id }) => id);
  };
}
