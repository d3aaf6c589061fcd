import { idOf } from '../../bson/bson.js';
import { partsWithMembers, seekLater, type Seek } from '../../../next-contained-type.js';
import {
  mergeMultiType,
  remainingParts,
  readMultiTypeCursor,
  writeMultiTypeCursor,
  type MultiTypeCursor,
  type FoundMultiType,
  type RemainingPart,
} from '../../../multi-type-search.js';
import { CHEAP_TOTAL, type FindMultiTypeQuery, type FindPage } from '../../../store.js';
import type { SortKey } from '../../../../search/query/query.js';
import { completeOf } from '../../write/complete.js';
import { keyOf } from '../../bson/documents.js';
import type { FindParts } from '../parts.js';
import { openAsk, type Ask } from '../ask.js';
import { readFindCursor, writeFindCursor, type FindCursor } from '../cursor.js';
import { toOrder } from '../compile/order.js';
import type { Match } from '../orders/match.js';
import { runSearch } from '../run-search.js';
import { translateMongoError } from '../../mongo-errors.js';
import type { QueryLimits, Snapshot } from '../../read/snapshot.js';
import { readVersionsOf } from './page-versions.js';
import { openFinder } from './finder.js';
import type { Finder } from './found.js';
import { toKey } from './held.js';
import { include } from './includes.js';
import { typesIn } from './links.js';
import { chunksOf, readByKeys } from './read-all.js';

/** Types that are asked at a time. */
const AT_A_TIME = 8;

/** One that was found, and what a cursor behind it has. */
interface Found extends FoundMultiType {
  readonly match: Match;
}

/** Finds pages of current resources of several types. */
export function openMultiTypeSearch(
  parts: FindParts,
): (query: FindMultiTypeQuery, limits: QueryLimits) => Promise<FindPage> {
  const { snapshots, turns, now } = parts;
  return async (asked, limits) => {
    // What is equal in a key is so when it is asked for again.
    const query = { ...asked, sort: eachOnce(asked.sort) };
    const place = query.after === undefined ? undefined : readMultiTypeCursor(query.after, query.parts);
    const after = place === undefined ? undefined : readFindCursor(place.own, orderOf(parts, query, place.type));
    try {
      return await runSearch(snapshots, turns, query, limits, async (snapshot) => {
        const types = await typesIn(snapshot);
        const there = query.parts.filter(({ type }) => types.has(type));
        const asked = await seekLater(partsWithMembers(there), (each) => firstFrom(snapshot, each));
        const own = { ...query, parts: asked };
        const ask = openAsk(snapshot);
        const { versions, last, hasMore } = await readPage(parts, snapshot, ask, own, place, after);
        const isAll = query.count > 0 && after === undefined && !hasMore;
        const total = isAll && query.total !== 'none' ? versions.length : await totalOf(parts, snapshot, own, after);
        const counted = total === undefined ? {} : { total };
        return {
          versions,
          complete: await completeOf(snapshot, now),
          ...(query.include !== undefined &&
            (await include(query.include, { versions, documents: [] }, { snapshot, ask, parts, base: query.base }))),
          ...counted,
          ...(hasMore && last !== undefined && { next: nextOf(last, counted) }),
        };
      });
    } catch (error) {
      throw translateMongoError(error);
    }
  };
}

async function firstFrom(snapshot: Snapshot, { type, from: id }: Seek): Promise<string | undefined> {
  // What follows the slash of ids is the zero.
  const _id = { $gte: keyOf({ type, id }), $lt: `${type}0` };
  const query = { collection: 'resource', filter: { _id }, sort: { _id: 1 }, hint: { _id: 1 }, projection: { _id: 1 } };
  const { documents } = await snapshot.find({ ...query, limit: 1 });
  return documents.map((bytes) => toKey(idOf(bytes)).id)[0];
}

function nextOf({ type, id, match: { values } }: Found, counted: { readonly total?: number }): string {
  return writeMultiTypeCursor({ type, own: writeFindCursor({ id, values, ...counted }) });
}

function eachOnce(sort: readonly SortKey[]): readonly SortKey[] {
  const nameOf = ({ param, by, isDescending }: SortKey): string => `${by} ${param} ${by === 'updated' || isDescending}`;
  return sort.filter((key, i) => sort.findIndex((other) => nameOf(other) === nameOf(key)) === i);
}

function orderOf({ slotOf }: FindParts, { sort }: FindMultiTypeQuery, type: string): ReturnType<typeof toOrder> {
  return toOrder(type, sort, slotOf);
}

interface Page extends Pick<FindPage, 'versions'> {
  readonly last?: Found;
  readonly hasMore: boolean;
}

/** Where all that a page would have is left out, the next takes its place. */
async function readPage(
  parts: FindParts,
  snapshot: Snapshot,
  ask: Ask,
  query: FindMultiTypeQuery,
  place: MultiTypeCursor | undefined,
  after: FindCursor | undefined,
): Promise<Page> {
  const left = remainingParts(query.parts, query.sort, place);
  const { matches, isCut } = await findMatches(parts, snapshot, ask, query, left, after);
  const keys = matches.map(({ match }) => match.key);
  const { versions, passed } = await readVersionsOf(ask, keys.slice(0, query.count));
  const last = matches[passed - 1];
  if (last === undefined) return { versions, hasMore: false };
  const hasMore = isCut || keys.length > passed;
  if (versions.length > 0 || !hasMore) return { versions, last, hasMore };
  const { type, id, match } = last;
  return readPage(parts, snapshot, ask, query, { type, own: '' }, { id, values: match.values });
}

interface FoundPage {
  readonly matches: readonly Found[];
  readonly isCut: boolean;
}

function baseOf({ base }: FindMultiTypeQuery): Pick<FindMultiTypeQuery, 'base'> {
  return base === undefined ? {} : { base };
}

/** One more than the page holds, at most. */
async function findMatches(
  parts: FindParts,
  snapshot: Snapshot,
  ask: Ask,
  query: FindMultiTypeQuery,
  left: readonly RemainingPart[],
  after: FindCursor | undefined,
): Promise<FoundPage> {
  const wanted = query.count + 1;
  let found: readonly Found[] = [];
  let isCut = false;
  if (query.count === 0) return { matches: [], isCut };
  const there = await withSameId(ask, left, after);
  const isInTurn = query.sort.length === 0;
  for (let at = 0; at < left.length;) {
    // The first may be enough.
    const some = left.slice(at, at + (isInTurn ? Math.min(AT_A_TIME, at + 1) : AT_A_TIME));
    at += some.length;
    const pages = await Promise.all(
      some.map(({ part, left: where }) => {
        const more = {
          ...baseOf(query),
          type: part.type,
          where: part.where,
          count: query.count,
          total: 'none',
        } as const;
        const order = orderOf(parts, query, part.type);
        return partPage(parts, snapshot, ask, more, order, where === 'all' ? undefined : after, there, wanted);
      }),
    );
    found = mergeMultiType([found, ...pages.map(({ matches }) => matches)], query.sort, wanted);
    isCut ||= pages.some((page) => page.isCut);
    // Without keys what comes later comes after all of this.
    if (isInTurn && found.length >= wanted) break;
  }
  return { matches: found, isCut };
}

/** Keys of what has the very id of the last resource shown, in the types where it was not shown yet. */
async function withSameId(
  ask: Ask,
  left: readonly RemainingPart[],
  after: FindCursor | undefined,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  if (after === undefined) return found;
  const keys = left.flatMap(({ part, left: where }) => (where === 'from' ? [`${part.type}/${after.id}`] : []));
  for await (const documents of readByKeys(ask, keys, [], { _id: 1 })) {
    for (const bytes of documents) found.add(idOf(bytes));
  }
  return found;
}

async function partPage(
  parts: FindParts,
  snapshot: Snapshot,
  ask: Ask,
  sought: Parameters<typeof openFinder>[2],
  order: ReturnType<typeof toOrder>,
  after: FindCursor | undefined,
  there: ReadonlySet<string>,
  wanted: number,
): Promise<FoundPage> {
  const { type, where } = sought;
  const finder = await openFinder(snapshot, parts, sought, order, after, ask);
  const { matches, isCut } = await finder.matches(wanted);
  const toFound = (match: Match): Found => ({
    match,
    type,
    id: match.key.slice(type.length + 1),
    values: match.values.map((value) => (value === null || typeof value === 'object' ? value : [value])),
  });
  if (after === undefined || !there.has(`${type}/${after.id}`)) return { matches: matches.map(toFound), isCut };
  const same = { ...sought, where: { all: [{ ids: [after.id] }, where] } };
  const first = await (await openFinder(snapshot, parts, same, order, undefined, ask)).matches(1);
  const equal = first.matches.filter(({ values }) => JSON.stringify(values) === JSON.stringify(after.values));
  return { matches: [...equal, ...matches].map(toFound), isCut };
}

/** The total of the first page, on each: a sum. */
async function totalOf(
  parts: FindParts,
  snapshot: Snapshot,
  query: FindMultiTypeQuery,
  after: FindCursor | undefined,
): Promise<number | undefined> {
  const { parts: targets, total } = query;
  if (after !== undefined) return after.total;
  if (total === 'none') return undefined;
  const count = async ({ type, where }: FindMultiTypeQuery['parts'][number]): Promise<number | undefined> => {
    const sought = { ...baseOf(query), type, where, count: 0, total } as const;
    const finder: Finder = await openFinder(snapshot, parts, sought, toOrder(type, [], parts.slotOf), undefined);
    return total === 'accurate' ? finder.countAll() : finder.countCheaply();
  };
  let sum = 0;
  for (const some of chunksOf(targets, AT_A_TIME)) {
    for (const counted of await Promise.all(some.map(count))) {
      if (counted === undefined) return undefined;
      sum += counted;
    }
    if (total === 'cheap' && sum > CHEAP_TOTAL.matches) return undefined;
  }
  return sum;
}
