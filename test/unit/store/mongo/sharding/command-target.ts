import type { Document } from 'mongodb';

import { keyField } from '../../../../mongod/router/shard-keys.js';

/** How many shards a command asks, where collections are sharded as docs/scaling.md has it. */
export type Target = 'one' | 'few' | 'all';

/** Commands of sessions and connections: they go where the commands before them went. */
const FOLLOWING = new Set([
  'commitTransaction',
  'abortTransaction',
  'endSessions',
  'getMore',
  'killCursors',
  'hello',
  'ping',
]);

/** Targets, the narrowest first. */
export const WIDENESS: readonly Target[] = ['one', 'few', 'all'];

/**
 * Judges a command: a router sends it to one shard where it names the shard key by equality, to few where it names several, and to all
 * otherwise. https://www.mongodb.com/docs/manual/core/sharded-cluster-query-router/
 *
 * @returns undefined: it follows others, or asks no data
 */
export function targetOf(name: string, command: Document): Target | undefined {
  if (FOLLOWING.has(name)) return undefined;
  const collection: unknown = command[name];
  // Of a whole database or server: `listIndexes`, `serverStatus`.
  if (typeof collection !== 'string') return undefined;
  const key = keyField(collection);
  if (key === undefined) return 'one';
  switch (name) {
    case 'find':
      return targetOfFilter(command['filter'] as Document, key);
    case 'count':
    case 'distinct':
    case 'findAndModify':
      return targetOfFilter(command['query'] as Document, key);
    case 'insert':
      return joined((command['documents'] as Document[]).map(() => 'one'));
    case 'update':
      return joined((command['updates'] as Document[]).map(({ q }) => targetOfFilter(q as Document, key)));
    case 'delete':
      return joined((command['deletes'] as Document[]).map(({ q }) => targetOfFilter(q as Document, key)));
    case 'aggregate': {
      const [first] = command['pipeline'] as Document[];
      return targetOfFilter((first?.['$match'] as Document | undefined) ?? {}, key);
    }
    default:
      return 'all';
  }
}

/** The widest of several; statements of one command that each concern one shard concern few together. */
export function joined(targets: readonly Target[]): Target {
  const widest = targets.reduce<Target>((a, b) => (WIDENESS.indexOf(a) < WIDENESS.indexOf(b) ? b : a), 'one');
  return widest === 'one' && targets.length > 1 ? 'few' : widest;
}

function targetOfFilter(filter: Document, key: string): Target {
  const own: unknown = filter[key];
  if (own !== undefined) return targetOfValue(own);
  const all = filter['$and'] as Document[] | undefined;
  const found = (all ?? []).map((each) => targetOfFilter(each, key));
  return found.toSorted((a, b) => WIDENESS.indexOf(a) - WIDENESS.indexOf(b))[0] ?? 'all';
}

/** A document is a value itself, unless operators are in it. */
function targetOfValue(value: unknown): Target {
  const operators = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  if (!operators.some((each) => each.startsWith('$'))) return 'one';
  const operator = value as Document;
  if (operator['$eq'] !== undefined) return 'one';
  const list = operator['$in'] as unknown[] | undefined;
  if (list === undefined) return 'all';
  return list.length > 1 ? 'few' : 'one';
}
