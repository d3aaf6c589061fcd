import type { Last } from '../../plan/cursor.js';
import type { Raw } from '../bson/bson.js';

/** A resource that was found. */
export interface Hit extends Last<string> {
  /** Bytes of the fields that were read of it. */
  readonly bytes: Raw;
}

/** Resources that one step of a walk found. */
export interface Hits {
  readonly hits: readonly Hit[];
  /** Whether there are no more behind them. */
  readonly isOver: boolean;
}

/** Goes through resources in some order. */
export interface HitWalk<At> {
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
