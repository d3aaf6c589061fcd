import type { Database } from 'better-sqlite3';

import { append } from '../../../fhir/lists.js';
import { partsWithMembers, seek, type Seek } from '../../next-contained-type.js';
import {
  mergeMultiType,
  remainingParts,
  readMultiTypeCursor,
  writeMultiTypeCursor,
  type RemainingPart,
} from '../../multi-type-search.js';
import { CHEAP_TOTAL, type FindMultiTypeQuery, type FindPage } from '../../store.js';
import type { Condition } from '../../../search/query/query.js';
import { readCursor, writeCursor, type FindCursor } from './cursor.js';
import { compareHits, type Hit } from './hit.js';
import { conjunctsOf } from '../../plan/conjuncts.js';
import type { PageReader, ReadPage, TypedHit } from './page.js';
import { placeOf } from './walk-position.js';
import { beginRun, orderOf, type FindParts, type Run, withoutAbsent } from './run.js';
import { simplify } from './compile/simplify.js';
import { findHits, type Found } from './search.js';
import { countAll, countCheaply } from './total.js';

/** A page of a search over several types. */
export interface MultiTypePage extends Pick<FindPage, 'total' | 'next'> {
  readonly page: ReadPage;
}

/** One of the types, and what there is of it. */
interface Part {
  readonly run: Run;
  readonly where: Condition;
  readonly left: RemainingPart['left'];
  found: Found | undefined;
}

/** Does searches over several types. Inside a transaction. */
export function openMultiTypeSearch(
  db: Database,
  parts: FindParts,
  read: PageReader,
): (query: FindMultiTypeQuery) => MultiTypePage {
  const selectId = db.prepare<[number], string>('SELECT id FROM resource WHERE key = ?').pluck();

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
  function search(part: Part, cursor: FindCursor | undefined, wanted: number): readonly Hit[] {
    const { run, where, left } = part;
    const place = cursor === undefined || left === 'all' ? undefined : placeOf(run, cursor);
    part.found = findHits(run, where, place, wanted);
    const { hits } = part.found;
    if (place?.source !== 'sort' || left !== 'from') return hits;
    const { after } = place;
    const same: Condition = { all: [{ ids: [after.id!] }, ...conjunctsOf(where)] };
    const [hit] = findHits(run, same, undefined, 1).hits;
    const isThere = hit !== undefined && compareHits(run.sort)({ ...hit, id: after.id! }, after) === 0;
    return isThere ? [hit, ...hits] : hits;
  }

  function typed({ run }: Part, hits: readonly Hit[]): readonly TypedHit[] {
    return hits.map((hit) => ({ type: run.query.type, hit }));
  }

  /** One type after the other. */
  function inTurn(all: readonly Part[], cursor: FindCursor | undefined, wanted: number): readonly TypedHit[] {
    const hits: TypedHit[] = [];
    for (const part of all) {
      if (hits.length >= wanted) break;
      append(hits, typed(part, search(part, cursor, wanted - hits.length)));
    }
    return hits;
  }

  /** Of all types together. */
  function merged(
    all: readonly Part[],
    cursor: FindCursor | undefined,
    wanted: number,
    sort: FindMultiTypeQuery['sort'],
  ): readonly TypedHit[] {
    const lists = all.map((part) =>
      typed(part, search(part, cursor, wanted)).map(({ type, hit }) => {
        return { type, hit, id: hit.id ?? selectId.get(hit.key)!, values: hit.values };
      }),
    );
    return mergeMultiType(lists, sort, wanted);
  }

  return (query) => {
    const { sort, count } = query;
    const place = query.after === undefined ? undefined : readMultiTypeCursor(query.after, query.parts);
    const cursor = place === undefined ? undefined : readCursor(place.own, orderOf(sort));
    const asked = seek(partsWithMembers(query.parts), firstFrom);
    const all = begin(query, remainingParts(asked, sort, place));
    const wanted = count === 0 ? 0 : count + 1;
    const hits = sort.length === 0 ? inTurn(all, cursor, wanted) : merged(all, cursor, wanted, sort);
    let total = cursor?.total;
    if (cursor === undefined && query.total !== 'none') {
      total = wanted > 0 && hits.length < wanted ? hits.length : totalOf(all);
    }
    const page = read(hits, count, undefined);
    const known = total === undefined ? {} : { total };
    const { versions, last } = page;
    if (last === undefined) return { page, ...known };
    const { source } = all.find(({ run }) => run.query.type === last.type)!.found!;
    const own = writeCursor(source, last.hit, versions.at(-1)!.id, total);
    return { page, ...known, next: writeMultiTypeCursor({ type: last.type, own }) };
  };
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
