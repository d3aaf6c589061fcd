import { conditionText } from '../../condition-text.js';
import type { Condition } from '../../../search/query/query.js';
import type { Hit } from './hit.js';
import { takeFrom } from './known-orders.js';
import type { Run } from './run.js';

/** Further pages that are read with one: the client likely goes on. */
const AHEAD = 2;

/** Longer conditions are not worth their memory. */
const LONGEST_NAME = 2000;

/**
 * A page of a walk in the order of the search, from memory where a walk was there before and nothing was written since.
 *
 * @param walk begins behind `after`; it meets matches in their order
 * @param rows that the walk may look at
 * @returns undefined where it would look at more for the page
 */
export function keptWalk(
  run: Run,
  where: Condition,
  after: Hit | undefined,
  wanted: number,
  walk: () => Iterable<Hit>,
  rows: number,
): readonly Hit[] | undefined {
  const name = nameOf(run, where, after);
  const known = name === undefined ? undefined : run.orders.get(name);
  const taken = known && takeFrom(run, known, after, wanted);
  if (taken !== undefined) return taken;
  const hits: Hit[] = [];
  const walked = walk()[Symbol.iterator]();
  try {
    let isEnd = run.interrupt.within({ rows }, () => takeUpTo(wanted, walked, hits));
    if (isEnd === undefined) return undefined;
    if (name !== undefined && after !== undefined && !isEnd) {
      // What follows may be far away, and is not worth more than a little time.
      isEnd = run.interrupt.within({ rows: run.limits.patience }, () => takeUpTo((1 + AHEAD) * wanted, walked, hits));
    }
    if (name !== undefined) run.orders.keep(name, { after, hits, isEnd: isEnd === true });
  } finally {
    walked.return?.();
  }
  return hits.slice(0, wanted);
}

/** Adds hits until there are so many. @returns whether the walk ended before */
function takeUpTo(most: number, walked: Iterator<Hit>, hits: Hit[]): boolean {
  while (hits.length < most) {
    const next = walked.next();
    if (next.done === true) return true;
    hits.push(next.value);
  }
  return false;
}

/** Undefined: it is not kept. An explanation is to see what a search does, and walks by ids are short. */
function nameOf(run: Run, where: Condition, after: Hit | undefined): string | undefined {
  if (run.trace !== undefined || run.sort.length === 0) return undefined;
  const { type, base } = run.query;
  const head = JSON.stringify(['walk', type, base, run.sort, run.isDescending, after === undefined]);
  const name = `${head} ${conditionText(where)}`;
  return name.length > LONGEST_NAME ? undefined : name;
}
