import type { Condition, Link } from '../../../../search/query/query.js';
import type { Driver } from '../compile/index-range.js';
import { FEW, findBest, findDriver } from '../compile/driver.js';
import { conjunctsOf, isLink, residualOf } from '../compile/residual.js';
import { openOtherSide, type OtherSide } from './other-side.js';
import type { Run } from '../run.js';

/** Most resources that are collected on the other side of a link; more are followed one by one instead. */
export const MOST_LED = 50_000;

/**
 * The driver of the conjunct that has the fewest rows. A link is one when its other side is known: that is collected where
 * it promises fewer resources than all else has rows, the shortest first.
 *
 * @param limit how far rows are counted
 */
export function findBestLed(run: Run, conjuncts: readonly Condition[], limit: number): Driver | undefined {
  let best = findBest(run, conjuncts, limit);
  const most = Math.min(limit, MOST_LED);
  const links = conjuncts.filter((each) => isOpen(run, each));
  if (links.length === 0 || (best !== undefined && best.count <= FEW)) return best;
  const promised = links.map((condition) => ({ condition, promise: promiseOf(run, condition, most) }));
  promised.sort((a, b) => a.promise - b.promise);
  for (const { condition, promise } of promised) {
    if (promise > most || (best !== undefined && (best.count <= FEW || promise >= best.count))) break;
    const driver = resolve(run, condition, most) ? findDriver(run, condition, limit) : undefined;
    if (driver === undefined) continue;
    run.trace?.probed(condition, driver.count, limit);
    if (best === undefined || driver.count < best.count) best = driver;
  }
  return best;
}

/** Whether there are links in a condition, such that could drive, whose other side is not known. */
function isOpen(run: Run, condition: Condition): boolean {
  if ('all' in condition) return condition.all.some((each) => isOpen(run, each));
  if ('some' in condition) return condition.some.some((each) => isOpen(run, each));
  return isLink(condition) && !run.resolved.has(condition);
}

/**
 * How many rows would have to be looked at to know what could fulfil a condition: those of its most selective leaf, on
 * whichever side of links.
 *
 * @param limit how far rows are counted; more is `Infinity`
 */
function promiseOf(run: Run, condition: Condition, limit: number): number {
  if ('not' in condition) return Infinity;
  if ('all' in condition) return least(run, condition.all, limit).promise;
  if ('some' in condition) return sum(condition.some, limit, (each) => promiseOf(run, each, limit));
  if (!isLink(condition) || run.resolved.has(condition)) {
    // Of a covered composite what it implies drives.
    const count = findDriver(run, condition, limit)?.count ?? Infinity;
    return count > limit ? Infinity : count;
  }
  if ((run.unresolved.get(condition) ?? -1) >= limit) return Infinity;
  return sum('chain' in condition ? condition.chain : [condition.has], limit, ({ type, where }) => {
    const beyond = run.of(type);
    return beyond === undefined ? 0 : promiseOf(beyond, where, limit);
  });
}

function sum<T>(parts: readonly T[], limit: number, promise: (part: T) => number): number {
  let total = 0;
  for (const part of parts) {
    total += promise(part);
    if (total > limit) return Infinity;
  }
  return total;
}

/** The conjunct that promises least. */
function least(run: Run, conjuncts: readonly Condition[], limit: number): { part?: Condition; promise: number } {
  let found: { part?: Condition; promise: number } = { promise: Infinity };
  for (const part of conjuncts) {
    const promise = promiseOf(run, part, limit);
    if (promise < found.promise) found = { part, promise };
    if (promise <= FEW) break;
  }
  return found;
}

/** Collects the other sides that a condition needs to drive. @returns whether it can */
function resolve(run: Run, condition: Condition, most: number): boolean {
  if ('not' in condition) return false;
  if ('some' in condition) return condition.some.every((each) => resolve(run, each, most));
  if ('all' in condition) {
    const { part } = least(run, condition.all, most);
    return part !== undefined && resolve(run, part, most);
  }
  if (!isLink(condition) || run.resolved.has(condition)) return true;
  const side = otherSide(run, condition, most);
  if (side === undefined) {
    run.unresolved.set(condition, most);
    return false;
  }
  run.resolved.set(condition, side.resolved());
  return true;
}

/** What a link leads to; undefined: that is too much. */
function otherSide(run: Run, link: Link, most: number): OtherSide | undefined {
  const side = openOtherSide(run, link, most);
  for (const { type, where } of 'chain' in link ? link.chain : [link.has]) {
    const beyond = run.of(type);
    if (beyond === undefined) continue;
    const conjuncts = conjunctsOf(where);
    const best = findBestLed(beyond, conjuncts, most);
    if (best === undefined || best.count > most) return undefined;
    if (!side.add(beyond, best, residualOf(conjuncts, best))) return undefined;
  }
  return side;
}
