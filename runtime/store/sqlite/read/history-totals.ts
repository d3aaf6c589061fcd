/** Where a file is: the last place of its versions, and how often some were removed. */
export interface Counted {
  readonly seq: number;
  readonly removals: number;
}

/** Totals of whole histories. */
export interface HistoryTotals {
  /**
   * The number of versions up to a place.
   *
   * @param scope whose history it is
   * @param countAfter counts those after a place, up to that one
   */
  total(scope: string, at: Counted, countAfter: (floor: number) => number): number;
}

/**
 * Remembers what was counted, so that only what came since has to be counted: versions never change, come in the order of `seq`, and go
 * by an expunge alone, which `removals` tells. One for each connection, whose snapshots follow one another.
 */
export function rememberTotals(): HistoryTotals {
  const known = new Map<string, Counted & { readonly total: number }>();
  return {
    total(scope, { seq, removals }, countAfter) {
      const before = known.get(scope);
      const isGood = before !== undefined && before.removals === removals && before.seq <= seq;
      const total = isGood ? before.total + (before.seq === seq ? 0 : countAfter(before.seq)) : countAfter(0);
      known.set(scope, { seq, removals, total });
      return total;
    },
  };
}
