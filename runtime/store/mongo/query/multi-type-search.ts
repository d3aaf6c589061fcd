import { append } from '../../../fhir/lists.js';
import type { Condition, SortKey } from '../../../search/query/query.js';
import { partsWithMembers, seekLater, type Seek } from '../../next-contained-type.js';
import {
  mergeMultiType,
  remainingParts,
  readMultiTypeCursor,
  writeMultiTypeCursor,
  type FoundMultiType,
  type RemainingPart,
} from '../../multi-type-search.js';
import { readCursor, writeCursor, type FindCursor, type CursorPlace } from '../../plan/cursor.js';
import { CHEAP_TOTAL, type FindMultiTypeQuery, type FindPage } from '../../store.js';
import { idOf } from '../bson/bson.js';
import { keyOf } from '../bson/documents.js';
import { translateMongoError } from '../mongo-errors.js';
import type { QueryLimits, Snapshot } from '../read/snapshot.js';
import { completeOf } from '../write/complete.js';
import { openAsk } from './ask.js';
import { askedOrder } from './compile/order.js';
import type { Hit } from './hit.js';
import { toKey } from './links/candidate.js';
import { include } from './links/includes.js';
import { openLinks, typesIn, type Links } from './links/links.js';
import { readVersionsOf } from './links/page-versions.js';
import { chunksOf } from './links/read-all.js';
import { resolvedScope } from './links/resolve.js';
import type { FindParts } from './parts.js';
import { isKeyOf, placeBehind, sortOf } from './places.js';
import { runSearch } from './run-search.js';
import { findHits, type FoundPage } from './search.js';
import { countAll, countCheaply } from './total.js';
import { KEYS } from './walks.js';

/** Types that are asked at a time. */
const AT_A_TIME = 8;

/** One that was found, and what a cursor behind it has. */
interface FoundOne extends FoundMultiType {
  readonly hit: Hit;
  readonly source: FoundPage['source'];
}

/** A search over several types while it is done. */
interface Run {
  readonly parts: FindParts;
  readonly links: Links;
  readonly query: FindMultiTypeQuery;
}

/** The place where a page goes on: behind a resource of a type. */
interface TypePlace {
  readonly type: string;
  readonly id: string;
  readonly place: CursorPlace<string>;
}

/** Finds pages of current resources of several types. */
export function openMultiTypeSearch(
  parts: FindParts,
): (query: FindMultiTypeQuery, limits: QueryLimits) => Promise<FindPage> {
  const { snapshots, turns, now } = parts;

  async function page(
    query: FindMultiTypeQuery,
    cursor: FindCursor<string> | undefined,
    from: TypePlace | undefined,
    snapshot: Snapshot,
  ): Promise<FindPage> {
    const types = await typesIn(snapshot);
    const there = query.parts.filter(({ type }) => types.has(type));
    const asked = await seekLater(partsWithMembers(there), (each) => firstFrom(snapshot, each));
    const ask = openAsk(snapshot);
    const run = { parts, links: openLinks(parts, ask), query: { ...query, parts: asked } };
    const { versions, last, hasMore } = await readPage(run, from);
    const isAll = query.count > 0 && !hasMore;
    const total = cursor === undefined ? await totalOf(run, isAll ? versions.length : undefined) : cursor.total;
    return {
      versions,
      complete: await completeOf(snapshot, now),
      ...(query.include !== undefined &&
        (await include(query.include, { versions, documents: [] }, { snapshot, ask, parts }))),
      ...(total !== undefined && { total }),
      ...(hasMore && last !== undefined && { next: nextOf(last, total) }),
    };
  }

  return async (asked, limits) => {
    // What is equal in a key is so when it is asked for again.
    const query = { ...asked, sort: eachOnce(asked.sort) };
    const place = query.after === undefined ? undefined : readMultiTypeCursor(query.after, query.parts);
    const order = place && askedOrder({ type: place.type, sort: query.sort }, parts.slotOf);
    const cursor = place && readCursor(place.own, sortOf(order), isKeyOf(place.type));
    const from = cursor && place && toTypePlace(place.type, cursor.place);
    try {
      return await runSearch(snapshots, turns, query, limits, (snapshot) => page(query, cursor, from, snapshot));
    } catch (error) {
      throw translateMongoError(error);
    }
  };
}

function toTypePlace(type: string, place: CursorPlace<string>): TypePlace {
  return { type, id: 'after' in place ? toKey(place.after.key).id : '', place };
}

async function firstFrom(snapshot: Snapshot, { type, from: id }: Seek): Promise<string | undefined> {
  // What follows the slash of ids is the zero.
  const _id = { $gte: keyOf({ type, id }), $lt: `${type}0` };
  const query = { collection: 'resource', filter: { _id }, sort: { _id: 1 }, hint: { _id: 1 }, projection: { _id: 1 } };
  const { documents } = await snapshot.find({ ...query, limit: 1 });
  return documents.map((bytes) => toKey(idOf(bytes)).id)[0];
}

function nextOf({ type, hit, source }: FoundOne, total: number | undefined): string {
  return writeMultiTypeCursor({ type, own: writeCursor(source, hit, total) });
}

function eachOnce(sort: readonly SortKey[]): readonly SortKey[] {
  const nameOf = ({ param, by, isDescending }: SortKey): string => `${by} ${param} ${by === 'updated' || isDescending}`;
  return sort.filter((key, i) => sort.findIndex((other) => nameOf(other) === nameOf(key)) === i);
}

interface Page extends Pick<FindPage, 'versions'> {
  readonly last?: FoundOne;
  readonly hasMore: boolean;
}

/** Reads a page. Where all that it would have is left out, the next takes its place. */
async function readPage(run: Run, from: TypePlace | undefined): Promise<Page> {
  const { query, links } = run;
  if (query.count === 0) return { versions: [], hasMore: false };
  const left = remainingParts(query.parts, query.sort, from && { type: from.type, own: '' });
  const found = await (query.sort.length === 0 ? inTurn(run, left, from) : merged(run, left, from));
  const keys = found.map(({ hit }) => hit.key);
  const { versions, passed } = await readVersionsOf(links.ask, keys.slice(0, query.count));
  const last = found[passed - 1];
  if (last === undefined) return { versions, hasMore: false };
  const hasMore = keys.length > passed;
  if (versions.length > 0 || !hasMore) return { versions, last, hasMore };
  return readPage(run, toTypePlace(last.type, placeBehind(last.source, last.hit)));
}

/** One type after the other: the first may be enough. One more than the page holds, at most. */
async function inTurn(run: Run, left: readonly RemainingPart[], from: TypePlace | undefined): Promise<FoundOne[]> {
  const wanted = run.query.count + 1;
  const found: FoundOne[] = [];
  for (let at = 0; at < left.length && found.length < wanted;) {
    const some = left.slice(at, at + Math.min(AT_A_TIME, at + 1));
    at += some.length;
    const pages = await Promise.all(some.map((part) => partPage(run, part, from, wanted)));
    append(found, pages.flat());
  }
  return found.slice(0, wanted);
}

/** Merges the pages of all types. */
async function merged(
  run: Run,
  left: readonly RemainingPart[],
  from: TypePlace | undefined,
): Promise<readonly FoundOne[]> {
  const { sort, count } = run.query;
  let found: readonly FoundOne[] = [];
  for (const some of chunksOf(left, AT_A_TIME)) {
    const pages = await Promise.all(some.map((part) => partPage(run, part, from, count + 1)));
    found = mergeMultiType([found, ...pages], sort, count + 1);
  }
  return found;
}

/** Finds the next resources of one type behind a place. */
async function partPage(
  { parts, links, query }: Run,
  { part: { type, where }, left }: RemainingPart,
  from: TypePlace | undefined,
  wanted: number,
): Promise<readonly FoundOne[]> {
  const order = askedOrder({ type, sort: query.sort }, parts.slotOf);
  const find = async (
    asked: Condition,
    place: CursorPlace<string> | undefined,
    most: number,
  ): Promise<readonly FoundOne[]> => {
    const scope = await resolvedScope(links, type, asked, order !== undefined);
    const { hits, source } = await findHits({ scope, order, reading: KEYS }, place, most);
    return hits.map((hit) => ({ type, id: toKey(hit.key).id, values: hit.values, hit, source }));
  };
  const place = left === 'all' || from === undefined ? undefined : placeAmong(type, from.place);
  const found = await find(where, place, wanted);
  if (left !== 'from' || place === undefined || place.source !== 'sort') return found;
  // The one with the very id of the last resource shown, which was of another type.
  const same = await find({ all: [{ ids: [toKey(place.after.key).id] }, where] }, undefined, 1);
  return [...same.filter(({ hit }) => isAt(hit, place)), ...found];
}

/** Returns the place in a common order among the resources of another type: ids decide on what is equal. */
function placeAmong(type: string, place: CursorPlace<string>): CursorPlace<string> {
  if (place.source !== 'sort') return place;
  const { key, values } = place.after;
  return { source: 'sort', after: { key: keyOf({ type, id: toKey(key).id }), values } };
}

function isAt(hit: Hit, place: Extract<CursorPlace<string>, { source: 'sort' }>): boolean {
  return JSON.stringify(placeBehind('sort', hit)) === JSON.stringify(place);
}

/** Returns the total of the first page: a sum. @param all how many there are, where they are all on it */
async function totalOf({ links, query }: Run, all: number | undefined): Promise<number | undefined> {
  const { parts: targets, total } = query;
  if (total === 'none') return undefined;
  if (all !== undefined) return all;
  let sum = 0;
  for (const some of chunksOf(targets, AT_A_TIME)) {
    const counts = some.map(async ({ type, where }) => {
      const scope = await resolvedScope(links, type, where);
      return total === 'accurate' ? countAll(scope) : countCheaply(scope, CHEAP_TOTAL.matches - sum);
    });
    for (const counted of await Promise.all(counts)) {
      if (counted === undefined) return undefined;
      sum += counted;
    }
    if (total === 'cheap' && sum > CHEAP_TOTAL.matches) return undefined;
  }
  return sum;
}
