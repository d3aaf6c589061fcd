import type { Database } from 'better-sqlite3';

import { append } from '../../../fhir/lists.js';
import { partsWithMembers, seek, type Seek } from '../../next-contained-type.js';
import {
  remainingParts,
  readMultiTypeCursor,
  writeMultiTypeCursor,
  type RemainingPart,
} from '../../multi-type-search.js';
import { CHEAP_TOTAL, type FindMultiTypeQuery, type FindPage } from '../../store.js';
import type { Condition, SortKey } from '../../../search/query/query.js';
import { readCursor, writeCursor, type FindCursor, type CursorPlace } from '../../plan/cursor.js';
import { compareSorted, isKey } from './hit.js';
import type { PageReader, ReadPage, TypedHit } from './page.js';
import { beginRun, keysOf, sortedBy, type FindParts, type SearchRun, withoutAbsent } from './run.js';
import { simplify } from './compile/simplify.js';
import { findHits, type FoundPage } from './search.js';
import { countAll, countCheaply } from './total.js';

/** A page of a search over several types. */
export interface MultiTypePage extends Pick<FindPage, 'total' | 'next'> {
  readonly page: ReadPage;
}

/** One of the types, and what there is of it. */
interface Part {
  readonly run: SearchRun;
  readonly where: Condition;
  readonly left: RemainingPart['left'];
  found: FoundPage | undefined;
}

/** Does searches over several types. Inside a transaction. */
export function openMultiTypeSearch(
  db: Database,
  parts: FindParts,
  read: PageReader,
): (query: FindMultiTypeQuery) => MultiTypePage {
  const selectFirst = db
    .prepare<[number, string], string>('SELECT id FROM resource WHERE type = ? AND id >= ? ORDER BY id LIMIT 1')
    .pluck();

  function firstFrom({ type: name, from }: Seek): string | undefined {
    const type = parts.dictionary.findTerm(name);
    return type === undefined ? undefined : selectFirst.get(type, from);
  }

  /** Types that never had a resource are left out. */
  function begin(query: FindMultiTypeQuery, left: readonly RemainingPart[]): readonly Part[] {
    const { parts: _parts, after: _after, include: _include, ...wanted } = query;
    return left.flatMap(({ part, left }) => {
      const run = beginRun(parts, { ...part, ...wanted });
      return run === undefined
        ? []
        : [{ run, where: simplify(withoutAbsent(run, part.where)), left, found: undefined }];
    });
  }

  /** What of a part comes after a place, as many as are wanted. */
  function search(part: Part, place: CursorPlace<number> | undefined, wanted: number): readonly TypedHit[] {
    part.found = findHits(part.run, part.where, place, wanted);
    return part.found.hits.map((hit) => ({ type: part.run.query.type, hit }));
  }

  /** One type after the other. */
  function inTurn(all: readonly Part[], cursor: FindCursor<number> | undefined, wanted: number): readonly TypedHit[] {
    const hits: TypedHit[] = [];
    for (const part of all) {
      if (hits.length >= wanted) break;
      append(hits, search(part, part.left === 'all' ? undefined : cursor?.place, wanted - hits.length));
    }
    return hits;
  }

  /** Of all types together: what is alike comes type by type. @param type that of the place */
  function merged(
    all: readonly Part[],
    cursor: FindCursor<number> | undefined,
    type: string | undefined,
    wanted: number,
    sort: readonly SortKey[],
  ): readonly TypedHit[] {
    const compare = compareSorted(sort);
    const found = all.flatMap((part) => search(part, cursor && placeIn(part, cursor.place, type), wanted));
    return found.sort((a, b) => compare(a.hit, b.hit)).slice(0, wanted);
  }

  return (query) => {
    const { sort, count } = query;
    const place = query.after === undefined ? undefined : readMultiTypeCursor(query.after, query.parts);
    const keys = keysOf(sort);
    const cursor = place === undefined ? undefined : readCursor(place.own, sortedBy(sort), isKey);
    const asked = seek(partsWithMembers(query.parts), firstFrom);
    const all = begin(query, remainingParts(asked, sort, place));
    const wanted = count === 0 ? 0 : count + 1;
    const hits = keys.length === 0 ? inTurn(all, cursor, wanted) : merged(all, cursor, place?.type, wanted, keys);
    let total = cursor?.total;
    if (cursor === undefined && query.total !== 'none') {
      total = wanted > 0 && hits.length < wanted ? hits.length : totalOf(all);
    }
    const page = read(hits, count, undefined);
    const known = total === undefined ? {} : { total };
    const { last } = page;
    if (last === undefined) return { page, ...known };
    const { source } = all.find(({ run }) => run.query.type === last.type)!.found!;
    const own = writeCursor(source, last.hit, total);
    return { page, ...known, next: writeMultiTypeCursor({ type: last.type, own }) };
  };
}

/** The place in an order as those of another type see it: all that is alike is before it, or after it. */
function placeIn({ run, left }: Part, place: CursorPlace<number>, type: string | undefined): CursorPlace<number> {
  if (place.source !== 'sort' || run.query.type === type) return place;
  const key = left === 'from' ? -1 : Number.MAX_SAFE_INTEGER;
  return { source: 'sort', after: { ...place.after, key } };
}

/** All that match, of all types; undefined: a cheap total was asked for, and it would not be one. */
function totalOf(all: readonly Part[]): number | undefined {
  const end = performance.now() + CHEAP_TOTAL.time;
  let sum = 0;
  for (const { run, where, found } of all) {
    if (run.query.total === 'accurate') {
      sum += found?.total ?? countAll(run, where);
      continue;
    }
    const left = CHEAP_TOTAL.matches - sum;
    const counted =
      performance.now() > end || left < 0
        ? undefined
        : (found?.total ?? countCheaply(run, where, { most: left, drivers: found?.drivers }));
    if (counted === undefined) return undefined;
    sum += counted;
  }
  return sum;
}
