import type { PlanLimits } from './limits.js';

/** Ranges of indexes that hold all that fulfils a condition of the search. */
export interface Source {
  /** Number of rows in the ranges, counted up to a limit; one above the limit stands for more. */
  readonly count: number;
  /** Whether its rows come one after the other, from any place on; else all have to be collected before the first is known. */
  readonly isLazy: boolean;
  /** Whether it leads through other resources, so that few rows of its ranges may take long. */
  readonly isFar: boolean;
  /** Whether it takes a look at other resources to tell which row of a resource counts: few are better collected. */
  readonly repeats: boolean;
}

/** Request of the planner to a store. The planner knows nothing of indexes, nor how long an answer takes. */
export type PlanRequest<S extends Source> =
  /** Asks for the sources that could drive the search, each with its rows counted up to `most`. The answer: a list, in any order. */
  | { readonly ask: 'sources'; readonly most: number }
  /**
   * A page of what a source gives, in its order; of all of the type; or of all of it in the order that was asked for. The answer:
   * the page; undefined: more rows than these had to be looked at.
   */
  | { readonly ask: 'walk'; readonly by: S | 'type' | 'order'; readonly rows: number }
  /** A page of all that a source gives, or of all of the type, collected first. The answer: the page. */
  | { readonly ask: 'collect'; readonly from: S | 'type' };

/** How resources come. */
export type Order =
  /** As whatever drives the search gives them. */
  | 'any'
  /** In an order that an index has, or in one that none has. */
  | 'indexed'
  | 'computed';

/**
 * Chooses how to find a page, and has it found: by the source with the fewest rows, or, where all have many, by what fills the page
 * first. A plan that looks at more rows than expected gives way to the next; each round allows several times as many, so that no
 * more is lost than a part of what the best plan costs.
 */
export function* choosePlan<S extends Source, Page>(
  order: Order,
  limits: PlanLimits,
): Generator<PlanRequest<S>, Page, readonly S[] | Page | undefined> {
  const sources = function* (most: number): Generator<PlanRequest<S>, readonly S[], readonly S[] | Page | undefined> {
    const found = (yield { ask: 'sources', most }) as readonly S[];
    return found.toSorted((a, b) => a.count - b.count);
  };
  const few = function* (
    known: readonly S[],
    most: number,
  ): Generator<PlanRequest<S>, Page | undefined, readonly S[] | Page | undefined> {
    const [best] = known;
    if (best === undefined || best.count > most) return undefined;
    if (order === 'any' && best.isLazy && !best.repeats)
      return (yield { ask: 'walk', by: best, rows: Infinity }) as Page;
    return (yield { ask: 'collect', from: best }) as Page;
  };

  let known = yield* sources(limits.glance);
  let page = yield* few(known, limits.glance);
  if (page !== undefined) return page;
  // What has to be collected is counted further: as long as it is few, nothing is gained by a walk through all of the type.
  const isCollected = known.some(({ isFar }) => !isFar) && !known.some(({ isLazy }) => isLazy);
  const isCompared = known.length > 1 && limits.compared > limits.glance;
  if (isCollected || isCompared || (order !== 'any' && known.length > 0)) {
    const most = isCollected || order !== 'any' ? limits.few : limits.compared;
    known = yield* sources(most);
    page = yield* few(known, most);
    if (page !== undefined) return page;
  }

  const walks = walksOf(order, known);
  const isAlone = walks.length === 1 && known.every((source) => walks[0] === source);
  // To collect instead of walking an order takes more than `few`.
  const first = order === 'indexed' ? Math.max(limits.first, limits.few) : limits.first;
  for (let rows = first; rows < limits.last; rows *= limits.more) {
    for (const by of walks) {
      page = (yield { ask: 'walk', by, rows: isAlone ? Infinity : rows }) as Page | undefined;
      if (page !== undefined) return page;
    }
    if (known.length === 0) continue;
    known = yield* sources(rows);
    page = yield* few(known, rows);
    if (page !== undefined) return page;
  }
  const [last] = walks;
  if (last !== undefined) return (yield { ask: 'walk', by: last, rows: Infinity }) as Page;
  const [best] = yield* sources(limits.last);
  return (yield { ask: 'collect', from: best ?? 'type' }) as Page;
}

/** Returns what may be gone through row by row, the most promising first. */
function walksOf<S extends Source>(order: Order, known: readonly S[]): readonly (S | 'type' | 'order')[] {
  if (order === 'indexed') return ['order'];
  if (order === 'computed') return [];
  const lazy = known.filter(({ isLazy }) => isLazy);
  const isNear = lazy.some(({ isFar }) => !isFar);
  return isNear ? lazy : [...lazy, 'type'];
}
