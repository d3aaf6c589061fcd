import { isEverything, type Condition, type Leaf, type Link } from '../../../search/query/query.js';
import { printCondition, printSort } from '../../../search/query/print.js';
import { driven, drivenAndSorted, firstKeys, sorted, walk, walkArms, type Direction } from './by-key.js';
import type { Driver } from './compile/index-range.js';
import { orderedArms } from './compile/driver.js';
import { firstOfSingle } from './first-of-single.js';
import { firstSorted } from './first-sorted.js';
import { compareHits, type Hit } from './hit.js';
import { conjunctsOf, isLink, residualOf, without } from './compile/residual.js';
import { keptWalk } from './kept-walk.js';
import { findBestLed } from './links/resolve.js';
import type { Run } from './run.js';
import { isSortable, sortedWalk } from './sorted-walk.js';

/** What was found for a page. */
export interface Found {
  /** From the place on, as many as were wanted. */
  readonly hits: readonly Hit[];
  /** All that match, from the beginning, where that came to light. */
  readonly total: number | undefined;
  /** What finds the matches with the fewest rows, if that is known. */
  readonly best: Driver | undefined;
}

/** How many rows more a walk may look at for each resource wanted. */
const PATIENCE_PER_HIT = 3;

/** How many rows more are read of an index that has a page: where that is all, the total is known too. */
const AHEAD = 100;

/** How far rows are counted at first. */
const GLANCE = 200;

/**
 * Finds a page in one of four ways: what an index finds few of is collected and sorted; an index that has the matches of one
 * condition in the order of ids is walked; or one that has the values of the first sort key; or all resources of the type. A
 * walk that meets too few matches is given up for collecting.
 *
 * @param where as `simplify` made it
 */
export function findHits(run: Run, where: Condition, after: Hit | undefined, wanted: number): Found {
  const { limits } = run;
  const conjuncts = conjunctsOf(where);
  const direction = { isDescending: run.isDescending, after };
  const isById = run.sort.length === 0;

  const [only] = conjuncts;
  const alone = isById && run.isOrdered && conjuncts.length === 1 ? only : undefined;
  if (alone !== undefined && ('any' in alone || 'words' in alone)) {
    const found = firstOf(run, alone, direction, wanted);
    if (found !== undefined) return found;
  }

  // What finds very few is mostly recognized by counting a few.
  const first = findBestLed(run, conjuncts, Math.min(limits.few, GLANCE));
  if (alone !== undefined && isLink(alone) && first !== undefined && first.count > GLANCE) {
    const found = firstOf(run, alone, direction, wanted);
    if (found !== undefined) return found;
  }
  // What belongs to a patient by one of several references: where no total is asked for, the rest need not be read.
  const isNotCounted = run.query.total === 'none' || after !== undefined;
  if (alone !== undefined && 'some' in alone && isNotCounted && first !== undefined && first.count > GLANCE) {
    const found = firstOf(run, alone, direction, wanted);
    if (found !== undefined) return found;
  }
  const best = first !== undefined && first.count <= GLANCE ? first : findBestLed(run, conjuncts, limits.few);
  if (wanted === 0) {
    const isBest = conjuncts.length === 1 || (best !== undefined && best.count <= limits.few);
    const driver = isBest ? best : findBestLed(run, conjuncts, limits.deep);
    if (driver !== undefined) run.trace?.drivenBy(printCondition(driver.condition));
    return { hits: [], total: undefined, best: driver };
  }
  if (best !== undefined && best.count <= limits.few) return collected(run, conjuncts, best, after, wanted);

  const source = isById ? byId(run, conjuncts, where, direction) : bySort(run, where, after);
  const walked = (rows: number): readonly Hit[] | undefined =>
    source === undefined ? undefined : keptWalk(run, where, after, wanted, source, rows);

  // What a link leads to much of is mostly a good part of a type: to meet a few costs less than to put all in order.
  const isAlone = isById && best?.isExact === true && conjuncts.length === 1;
  if (isAlone && isLink(only!) && wanted > 0 && run.query.total !== 'accurate') {
    const hits = walked(limits.brief + PATIENCE_PER_HIT * wanted);
    if (hits !== undefined) return { hits, total: undefined, best };
  }

  // All matches cost little more than a walk to the first of them, and tell the total.
  const several = isAlone ? findBestLed(run, conjuncts, limits.small) : undefined;
  if (several !== undefined && several.count <= limits.small) return collected(run, conjuncts, several, after, wanted);

  let hits = walked(limits.patience + PATIENCE_PER_HIT * wanted);
  if (hits !== undefined) return { hits, total: undefined, best };

  const deep = findBestLed(run, conjuncts, limits.deep);
  if (deep === undefined) {
    hits = walked(Infinity);
    if (hits !== undefined) return { hits, total: undefined, best };
    run.trace?.drivenBy(`every ${run.query.type}`);
    const all = walk(run, where, { isDescending: false, after: undefined });
    return page(
      run,
      sorted(
        run,
        Array.from(all, ({ key }) => key),
      ),
      after,
      wanted,
      undefined,
    );
  }
  if (deep.count > limits.small) hits = walked(deep.count);
  return hits === undefined ? collected(run, conjuncts, deep, after, wanted) : { hits, total: undefined, best: deep };
}

function isLeaf(condition: Condition): condition is Leaf | Link {
  return !('all' in condition || 'some' in condition || 'not' in condition);
}

/** A page of what one condition finds in the order of ids; undefined: it does not. */
function firstOf(run: Run, only: Condition, direction: Direction, wanted: number): Found | undefined {
  const arms = orderedArms(run, only);
  if (arms === undefined) return undefined;
  run.trace?.drivenBy(printCondition(only));
  const best = { condition: only, arms, count: Infinity, isExact: true };
  if (wanted === 0) return { hits: [], total: undefined, best };
  let most = wanted + AHEAD;
  let { hits, isAll } = firstKeys(run, arms, direction, most);
  // A resource that is in several ranges takes a row of each.
  while (!isAll && hits.length < wanted) ({ hits, isAll } = firstKeys(run, arms, direction, (most *= 2)));
  const total = isAll && direction.after === undefined ? hits.length : undefined;
  return { hits: hits.slice(0, wanted), total, best };
}

/** A walk in the order of ids: by a condition that has its matches in that order, or through all. */
function byId(run: Run, conjuncts: readonly Condition[], where: Condition, direction: Direction): () => Iterable<Hit> {
  // What few resources on the other side of a link lead to is mostly less than what has a value.
  const links = conjuncts.filter((each) => isLink(each));
  for (const condition of run.isOrdered ? [...links, ...conjuncts] : []) {
    const arms = isLeaf(condition) ? orderedArms(run, condition) : undefined;
    if (arms === undefined) continue;
    const rest = without(conjuncts, condition);
    return () => {
      run.trace?.drivenBy(printCondition(condition));
      return walkArms(run, arms, rest, direction);
    };
  }
  return () => {
    run.trace?.drivenBy(`every ${run.query.type}`);
    return walk(run, where, direction);
  };
}

/** A walk by the index of the first sort key, where there is one. */
function bySort(run: Run, where: Condition, after: Hit | undefined): (() => Iterable<Hit>) | undefined {
  if (!isSortable(run)) return undefined;
  return () => {
    run.trace?.drivenBy(`the order ${printSort(run.sort)}`);
    return sortedWalk(run, where, after);
  };
}

function collected(
  run: Run,
  conjuncts: readonly Condition[],
  best: Driver,
  after: Hit | undefined,
  wanted: number,
): Found {
  run.trace?.drivenBy(printCondition(best.condition));
  const left = residualOf(conjuncts, best);
  if (run.isOrdered && run.sort.length === 0) {
    const found = isEverything(left)
      ? firstOfSingle(run, best, { isDescending: run.isDescending, after }, wanted)
      : undefined;
    return found === undefined ? pageOfKeys(run, driven(run, best, left), after, wanted, best) : { ...found, best };
  }
  const first = firstSorted(run, best, left, after, wanted);
  if (first !== undefined) return { ...first, best };
  const hits = drivenAndSorted(run, best, left) ?? sorted(run, driven(run, best, left));
  return page(run, hits, after, wanted, best);
}

/** A page in the order of ids, which is that of keys. */
function pageOfKeys(
  { isDescending }: Run,
  keys: readonly number[],
  after: Hit | undefined,
  wanted: number,
  best: Driver,
): Found {
  const ordered = isDescending ? keys.toReversed() : keys;
  const isLater = (key: number): boolean => after === undefined || (isDescending ? key < after.key : key > after.key);
  const begin = after === undefined ? 0 : ordered.findIndex(isLater);
  const hits = begin < 0 ? [] : ordered.slice(begin, begin + wanted).map((key) => ({ key, values: [] }));
  return { hits, total: keys.length, best };
}

function page(run: Run, all: readonly Hit[], after: Hit | undefined, wanted: number, best: Driver | undefined): Found {
  const order = compareHits(run.sort);
  const sign = run.isDescending ? -1 : 1;
  const left = after === undefined ? all : all.filter((hit) => order(hit, after) * sign > 0);
  return { hits: left.slice(0, wanted), total: all.length, best };
}
