import type { Condition, Ends, Interval } from '../../search/query/query.js';
import { conjunctsOf } from './conjuncts.js';

/**
 * Whether what fulfils a condition lies mostly among what was written last: it asks for what happened since a time, and mostly a thing
 * is written when it happens. A walk in the order of writing begins there then.
 */
export function isNewestFirst(where: Condition): boolean {
  const ends = conjunctsOf(where).flatMap(endsIn);
  return (
    ends.some((each) => isBounded(each, ['gt', 'gte'], ['lt', 'lte'])) &&
    !ends.some((each) => isBounded(each, ['lt', 'lte'], ['gt', 'gte']))
  );
}

function endsIn(condition: Condition): readonly Ends[] {
  if ('updated' in condition) return condition.updated;
  return 'any' in condition ? condition.any.flatMap((test) => (test.is === 'date' ? [test] : [])) : [];
}

type Sign = keyof Interval;

/** Whether there is a bound on one side, and none on the other. */
function isBounded({ low = {}, high = {} }: Ends, signs: readonly Sign[], others: readonly Sign[]): boolean {
  const has = (sign: Sign): boolean => low[sign] !== undefined || high[sign] !== undefined;
  return signs.some(has) && !others.some(has);
}
