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
  const most = name === undefined || after === undefined ? wanted : (1 + AHEAD) * wanted;
  const hits: Hit[] = [];
  const isEnd = run.interrupt.within({ rows }, () => {
    if (wanted === 0) return false;
    for (const hit of walk()) if (hits.push(hit) === most) return false;
    return true;
  });
  // What was to be read ahead may be too far away.
  if (isEnd === undefined && hits.length < wanted) return undefined;
  if (name !== undefined) run.orders.keep(name, { after, hits, isEnd: isEnd === true });
  return hits.slice(0, wanted);
}

/** Undefined: it is not kept. An explanation is to see what a search does, and walks by ids are short. */
function nameOf(run: Run, where: Condition, after: Hit | undefined): string | undefined {
  if (run.trace !== undefined || run.sort.length === 0) return undefined;
  const { type, base } = run.query;
  const head = JSON.stringify(['walk', type, base, run.sort, run.isDescending, after === undefined]);
  const name = `${head} ${conditionText(where)}`;
  return name.length > LONGEST_NAME ? undefined : name;
}
