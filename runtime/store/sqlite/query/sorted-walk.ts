import { valuedBy, type Condition } from '../../../search/query/query.js';
import { compareValues } from '../../../search/query/sort.js';
import { walk } from './by-key.js';
import { compareHits, type Hit } from './hit.js';
import type { Run } from './run.js';
import { hasIndex, ranked, type Ranked } from './sort-source.js';
import { sortReaders } from './sort-values.js';

/** Whether there is an index of the first key. */
export function isSortable({ sort: [first] }: Run): boolean {
  return first !== undefined && hasIndex(first);
}

/**
 * What fulfils a condition in the order of the search, by the index of its first key: those with a value, then those
 * without. What further keys sort is collected value by value.
 */
export function* sortedWalk(run: Run, where: Condition, after: Hit | undefined): Generator<Hit> {
  const [first, ...others] = run.sort;
  if (first === undefined) return;
  const isPlain = others.length === 0 && run.isOrdered;
  const source = ranked(run, first, where, after, !isPlain);
  if (isPlain) for (const { key, value } of source) yield { key, values: [value] };
  else yield* inBlocks(run, source, after);
  // Times everything has.
  if (first.by === 'updated' || first.by === 'id') return;
  const isAmong = after !== undefined && after.values[0] === null;
  const missing: Condition = { all: [{ not: { param: valuedBy(first)[0]!, present: first.by } }, where] };
  if (isPlain) {
    for (const hit of walk(run, missing, { isDescending: false, after: isAmong ? after : undefined })) {
      yield { ...hit, values: [null] };
    }
    return;
  }
  const rest = walk(run, missing, { isDescending: false, after: undefined });
  yield* inBlocks(run, ofNoValue(rest), isAmong ? after : undefined);
}

function* ofNoValue(hits: Iterable<Hit>): Generator<Omit<Ranked, 'value'>> {
  for (const { key } of hits) yield { key };
}

/** What has the same first value is collected and sorted by the other keys. */
function* inBlocks(
  run: Run,
  source: Iterable<Omit<Ranked, 'value'> & Partial<Ranked>>,
  after: Hit | undefined,
): Generator<Hit> {
  const compare = compareHits(run.sort);
  const readers = sortReaders(run);
  const selectId = run.statements.prepare<{ readonly id: string }>('SELECT id FROM resource WHERE key = ?');
  let block: Hit[] = [];
  const flush = (): readonly Hit[] => {
    const sorted = block.sort(compare).filter((hit) => after === undefined || compare(hit, after) > 0);
    block = [];
    return sorted;
  };
  for (const { key, value = null } of source) {
    const begun = block[0]?.values[0] ?? null;
    if (begun !== null && value !== null && compareValues(begun, value) !== 0) yield* flush();
    run.interrupt.step();
    run.trace?.read(1);
    const { id } = selectId.get(key)!;
    const others = readers.slice(1).map((read) => read(key, id) ?? null);
    block.push({ key, id, values: [value, ...others] });
  }
  yield* flush();
}
