import { describe, expect, it } from 'vitest';

import { choosePlan, type Order, type PlanRequest, type Source } from '../../../../runtime/store/plan/choose.js';
import { MONGO_LIMITS, SQLITE_LIMITS } from '../../../../runtime/store/plan/limits.js';

interface Named extends Source {
  readonly name: string;
}

function source(name: string, count: number, more: Partial<Source> = {}): Named {
  return { name, count, isLazy: true, isFar: false, repeats: false, ...more };
}

/** What is asked, one after the other, until a page is there. @param rows that have to be looked at on the way to it */
function planOf(
  order: Order,
  sources: readonly Named[],
  rows: Readonly<Record<string, number>> = {},
  limits = SQLITE_LIMITS,
): string[] {
  const asked: string[] = [];
  const plan = choosePlan<Named, string>(order, limits);
  const nameOf = (what: Named | string): string => (typeof what === 'string' ? what : what.name);
  function answer(request: PlanRequest<Named>): readonly Named[] | string | undefined {
    if (request.ask === 'sources') {
      asked.push(`count to ${request.most}`);
      return sources.map((each) => ({ ...each, count: Math.min(each.count, request.most + 1) }));
    }
    if (request.ask === 'collect') {
      asked.push(`collect ${nameOf(request.from)}`);
      return 'page';
    }
    const name = nameOf(request.by);
    asked.push(`walk ${name} for ${request.rows}`);
    return (rows[name] ?? Infinity) <= request.rows ? 'page' : undefined;
  }
  let step = plan.next();
  while (step.done !== true) step = plan.next(answer(step.value));
  return asked;
}

describe('a plan', () => {
  it('without a sort walks the source with the fewest rows', () => {
    expect(planOf('any', [source('code', 5000), source('patient', 40)])).toEqual([
      'count to 100',
      'walk patient for Infinity',
    ]);
  });

  it('collects few rows that come in no order, or that tell too late whether they count', () => {
    expect(planOf('any', [source('list', 40, { isLazy: false })])).toEqual(['count to 100', 'collect list']);
    expect(planOf('any', [source('has', 40, { isFar: true, repeats: true })])).toEqual(['count to 100', 'collect has']);
    expect(planOf('any', [source('list', 900, { isLazy: false })])).toEqual([
      'count to 100',
      'count to 1000',
      'collect list',
    ]);
  });

  it('has the only source of many walked to its end', () => {
    expect(planOf('any', [source('code', 5000)])).toEqual(['count to 100', 'walk code for Infinity']);
  });

  it('counts those of many further, where that costs less than a walk in vain, to begin with the fewest', () => {
    const [status, date] = [source('status', 50_000), source('date', 700)];
    const counted = ['count to 250', 'count to 1000'];
    expect(planOf('any', [status, date], {}, MONGO_LIMITS)).toEqual([...counted, 'walk date for Infinity']);
    expect(planOf('any', [status, source('code', 5000)], { status: 60 }, MONGO_LIMITS)).toEqual([
      ...counted,
      'walk status for 500',
    ]);
    expect(planOf('any', [status], {}, MONGO_LIMITS)).toEqual(['count to 250', 'walk status for Infinity']);
  });

  it('has those of many walked in turn, each time further, until one fills the page or has few', () => {
    const code = source('code', 50_000);
    expect(planOf('any', [code, source('date', 60_000)], { date: 3000 })).toEqual([
      'count to 100',
      'walk code for 500',
      'walk date for 500',
      'count to 500',
      'walk code for 4000',
      'walk date for 4000',
    ]);
    expect(planOf('any', [code, source('status', 3000)])).toEqual([
      'count to 100',
      'walk code for 500',
      'walk status for 500',
      'count to 500',
      'walk code for 4000',
      'walk status for 4000',
      'count to 4000',
      'walk status for Infinity',
    ]);
  });

  it('has all of the type walked beside what leads through other resources, or where there is no source', () => {
    expect(planOf('any', [source('chain', 5000, { isFar: true })], { type: 30 })).toEqual([
      'count to 100',
      'walk chain for 500',
      'walk type for 500',
    ]);
    expect(planOf('any', [])).toEqual(['count to 100', 'walk type for Infinity']);
  });

  it('with a sort collects what has few matches, and walks the order where all have many', () => {
    expect(planOf('indexed', [source('patient', 900)])).toEqual(['count to 100', 'count to 1000', 'collect patient']);
    expect(planOf('indexed', [source('code', 50_000)], { order: 200 })).toEqual([
      'count to 100',
      'count to 1000',
      'walk order for 1000',
    ]);
    expect(planOf('computed', [source('code', 50_000)]).at(-1)).toBe('collect code');
    expect(planOf('computed', []).at(-1)).toBe('collect type');
  });
});
