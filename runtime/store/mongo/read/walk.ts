import type { Document } from 'mongodb';

import type { StoredVersion } from '../../store.js';
import type { Raw } from '../bson/bson.js';
import { keyOf } from '../bson/documents.js';
import { BY_TIME, BY_TYPE_AND_TIME, BY_VERSION, PENDING } from '../indexes.js';
import { CONTAINED_FIELDS, PLAIN } from '../write/contained-resources.js';
import { beyond, comparePlaces, type HistoryPlace } from '../place.js';
import type { Snapshot } from './snapshot.js';
import { readHead, toStoredVersion, VERSION_ONLY } from '../bson/stored-version.js';

/** Characters of bodies after which a page ends early, for it is held in memory. */
const MAX_PAGE = 16 * 1024 * 1024;

/** Which versions, and which way. */
export interface VersionWalk {
  readonly direction: 'before' | 'after';
  readonly type?: string;
  /** Only with `type`. */
  readonly id?: string;
  /** Only without `type`: these alone. */
  readonly types?: readonly string[];
  /** Further conditions for current versions, and for past ones. */
  readonly current: Document;
  readonly past: Document;
  /** Absent: from the beginning. */
  readonly from?: HistoryPlace;
}

/** One step of a walk. */
export interface WalkPage {
  readonly versions: readonly (StoredVersion & { readonly isCurrent: boolean })[];
  /** Place of the last of them; absent: there is none. */
  readonly last?: HistoryPlace;
  readonly hasMore: boolean;
}

interface Item {
  readonly bytes: Raw;
  readonly place: HistoryPlace;
}

/**
 * Greatest number of types that are each read by a walk of its own. In a walk over all types, all others may be between
 * two versions of a rare type.
 */
export const FEW_TYPES = 8;

/**
 * The next versions of a walk, in the order of history. Both collections have the same order, so that they are merged as they come.
 * A current version may have a pending copy in `history`, which comes right behind it, and is left out.
 */
export async function walk(snapshot: Snapshot, query: VersionWalk, count: number): Promise<WalkPage> {
  const streams = await openStreams(snapshot, query, count + 1);
  const sign = query.direction === 'before' ? -1 : 1;
  const versions: (StoredVersion & { isCurrent: boolean })[] = [];
  let last: HistoryPlace | undefined;
  for (let size = 0; ;) {
    let first: { readonly item: Item; readonly stream: Stream } | undefined;
    for (const stream of streams) {
      const item = await stream.peek();
      const isFirst = first === undefined || (item && sign * comparePlaces(item.place, first.item.place) < 0);
      if (item !== undefined && isFirst) first = { item, stream };
    }
    if (first !== undefined && last !== undefined && comparePlaces(first.item.place, last) === 0) {
      first.stream.take();
      continue;
    }
    const hasMore = first !== undefined;
    if (first === undefined || versions.length === count || size >= MAX_PAGE) {
      return { versions, hasMore, ...(last === undefined ? {} : { last }) };
    }
    const stored = toStoredVersion(first.item.bytes);
    versions.push({ ...stored, isCurrent: first.stream.collection === 'resource' });
    size += stored.json?.length ?? 0;
    last = first.item.place;
    first.stream.take();
  }
}

/** How many versions a walk has in all. */
export async function countWalk(snapshot: Snapshot, query: VersionWalk): Promise<number> {
  const count = async (collection: CollectionName, match: Document, hint: Document): Promise<number> => {
    const [row] = await snapshot.aggregate(collection, [{ $match: match }, { $count: 'n' }], hint);
    return Number(row?.['n'] ?? 0);
  };
  const countOf = (collection: CollectionName): Promise<number> => {
    const hint = query.types === undefined ? hintOf(query, collection) : BY_TYPE_AND_TIME;
    return count(collection, conditions(query, collection), hint);
  };
  // To count everything and those few apart is faster than to look at the type of each.
  const isSystem = query.type === undefined && query.types === undefined;
  const members = isSystem ? [count('resource', { type: CONTAINED_FIELDS, ...query.current }, BY_TYPE_AND_TIME)] : [];
  const [current, past, pending, within = 0] = await Promise.all([
    countOf('resource'),
    countOf('history'),
    countPending(snapshot, query),
    ...members,
  ]);
  return current + past - pending - within;
}

/** Pending copies that are looked at. There are as many as there were updates in the last tenth of a second. */
const MOST_PENDING = 20_000;

/** How many copies in `history` are of versions that nothing has replaced. */
async function countPending(snapshot: Snapshot, query: VersionWalk): Promise<number> {
  const filter = { ...conditions(query, 'history'), pending: true };
  const head = { projection: { type: 1, id: 1, version: 1, updated: 1, n: 1 }, limit: MOST_PENDING } as const;
  const { documents } = await snapshot.find({ collection: 'history', filter, hint: PENDING, ...head });
  if (documents.length === 0) return 0;
  const copies = documents.map(readHead);
  const keys = { _id: { $in: [...new Set(copies.map(keyOf))] } };
  const current = await snapshot.find({ collection: 'resource', filter: keys, hint: { _id: 1 }, ...head });
  const versions = new Map(current.documents.map(readHead).map((each) => [keyOf(each), each.version]));
  return copies.filter((copy) => (versions.get(keyOf(copy)) ?? 0) <= copy.version).length;
}

type CollectionName = 'resource' | 'history';

function conditions({ type, id, types, current, past }: VersionWalk, collection: CollectionName): Document {
  const own = collection === 'resource' ? current : past;
  if (type === undefined) return types === undefined ? own : { type: { $in: [...types] }, ...own };
  if (id === undefined) return { type, ...own };
  return collection === 'resource' ? { _id: `${type}/${id}`, ...own } : { type, id, ...own };
}

function hintOf({ type, id }: VersionWalk, collection: CollectionName): Document {
  if (type === undefined) return BY_TIME;
  if (id === undefined) return BY_TYPE_AND_TIME;
  return collection === 'resource' ? { _id: 1 } : BY_VERSION;
}

/**
 * Bounds the walk through `BY_TIME` at its beginning: only then the server passes by other types in the index, and does not read all
 * their documents, thousands where they are within one resource.
 */
const AT_ANY_TIME: Document = { updated: { $gte: new Date(-8.64e15) } };

/** What is within resources has no versions. */
function withoutMembers({ type, types }: VersionWalk, collection: CollectionName): readonly Document[] {
  return collection === 'resource' && type === undefined && types === undefined ? [{ type: PLAIN }] : [];
}

function openStreams(snapshot: Snapshot, query: VersionWalk, limit: number): Promise<Stream[]> {
  const { types, ...rest } = query;
  const walks: VersionWalk[] = types !== undefined && types.length <= FEW_TYPES ? types.map((type) => ({ ...rest, type })) : [query]; // prettier-ignore
  const collections = ['resource', 'history'] as const;
  return Promise.all(walks.flatMap((each) => collections.map((name) => openStream(snapshot, each, name, limit))));
}

/** Versions of one collection, one after the other. */
interface Stream {
  readonly collection: CollectionName;
  /** The next one; undefined: there is none. */
  peek(): Promise<Item | undefined>;
  take(): void;
}

async function openStream(
  snapshot: Snapshot,
  query: VersionWalk,
  collection: CollectionName,
  limit: number,
): Promise<Stream> {
  const hint = hintOf(query, collection);
  const sign = query.direction === 'before' ? -1 : 1;
  const sort = Object.fromEntries(Object.keys(hint).map((field) => [field, sign]));
  let isOver = false;
  let items: Item[] = [];
  let next = 0;
  await fetch(query.from);

  async function fetch(from: HistoryPlace | undefined): Promise<void> {
    const filter = {
      $and: [
        conditions(query, collection),
        ...withoutMembers(query, collection),
        ...(hint === BY_TIME ? [AT_ANY_TIME] : []),
        ...(from === undefined ? [] : [beyond(from, query.direction)]),
      ],
    };
    const projection = collection === 'resource' ? { projection: VERSION_ONLY } : {};
    const { documents, isCut } = await snapshot.find({ collection, filter, sort, hint, limit, ...projection });
    items = documents.map((bytes) => ({ bytes, place: readHead(bytes) }));
    next = 0;
    isOver = !isCut;
  }

  return {
    collection,
    async peek() {
      if (next === items.length && !isOver) await fetch(items.at(-1)?.place);
      return items[next];
    },
    take: () => void next++,
  };
}
