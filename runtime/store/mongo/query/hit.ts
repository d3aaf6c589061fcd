import type { ArmName } from '../../plan/arm-names.js';
import type { ArmPlace } from '../../plan/cursor.js';
import type { SortValue } from '../../../search/query/sort.js';
import type { Raw } from '../bson/bson.js';

/** A resource that was found. */
export interface Hit {
  readonly key: string;
  /** What it is sorted by; null: it has no value. */
  readonly values: readonly (SortValue | null)[];
  /** What was read of it. */
  readonly bytes: Raw;
  /** Where it is in the ranges that were gone through; absent: it was found otherwise. */
  readonly place?: { readonly arm: () => ArmName; readonly at: ArmPlace['at'] };
}

/** What was found at once. */
export interface Hits {
  readonly hits: readonly Hit[];
  /** Whether there are no more behind them. */
  readonly isOver: boolean;
}

/** Goes through resources in some order. */
export interface Walk<At> {
  /** What it goes through, as text. */
  readonly name: () => string;
  /**
   * The next that fulfil what is asked of resources themselves; fewer than wanted are not all of them unless it is over, for an answer
   * holds only so many.
   *
   * @param rows look at no more than these
   * @returns undefined: that was not enough
   */
  next(after: At | undefined, wanted: number, rows: number): Promise<Hits | undefined>;
  /** The place of one that was found. */
  placeOf(hit: Hit): At;
}
