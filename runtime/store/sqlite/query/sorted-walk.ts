import { valuedBy, type Condition } from '../../../search/query/query.js';
import { compareValues } from '../../../search/query/sort.js';
import { selectOfType, walk } from './by-key.js';
import { compareHits, type Hit } from './hit.js';
import type { SearchRun } from './run.js';
import { hasIndex, ranked, type Ranked } from './sort-source.js';
import { inOrderOf, sortColumns, type SortColumns } from './sort-values.js';

/** Whether there is an index of the first key. */
export function isSortable({ sort: [first] }: SearchRun): boolean {
  return first !== undefined && hasIndex(first);
}

/**
 * Yields the resources that fulfil a condition in the order of the search, by the index of its first key: first those
 * with a value, then those without. Resources with the same first value are collected and sorted by the other keys.
 */
export function* sortedWalk(run: SearchRun, where: Condition, after: Hit | undefined): Generator<Hit> {
  const [first, ...others] = run.sort;
  if (first === undefined) return;
  const isPlain = others.length === 0;
  const { select, read } = sortColumns(run, others);
  const source = ranked(run, first, where, after, !isPlain, select);
  if (isPlain) for (const { key, value } of source) yield { key, values: [value] };
  else yield* inBlocks(run, source, read, after);
  // Everything has these.
  if (first.by === 'updated' || first.by === 'id') return;
  const isAmong = after !== undefined && after.values[0] === null;
  const missing: Condition = { all: [{ not: { param: valuedBy(first)[0]!, present: first.by } }, where] };
  if (isPlain) {
    for (const key of walk(run, missing, isAmong ? after.key : undefined)) yield { key, values: [null] };
    return;
  }
  yield* inOrderOf(run, run.sort, selectOfType(run, missing), isAmong ? after : undefined).hits;
}

/** What has the same first value is collected and sorted by the other keys. */
function* inBlocks(
  run: SearchRun,
  source: Iterable<Ranked>,
  read: SortColumns['read'],
  after: Hit | undefined,
): Generator<Hit> {
  const compare = compareHits(run.sort);
  let block: Hit[] = [];
  const flush = (): readonly Hit[] => {
    const sorted = block.sort(compare).filter((hit) => after === undefined || compare(hit, after) > 0);
    block = [];
    return sorted;
  };
  for (const { key, value, more } of source) {
    const begun = block[0]?.values[0] ?? undefined;
    if (begun !== undefined && compareValues(begun, value) !== 0) yield* flush();
    run.interrupt.step();
    block.push({ key, values: [value, ...read(more)] });
  }
  yield* flush();
}
