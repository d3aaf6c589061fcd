import type { Interval } from '../../../../search/query/query.js';
import { EARLIEST, LATEST } from '../../bson/index-rows.js';
import type { Range } from './row-test.js';

/**
 * Converts limits on an end of an interval to limits on a Date. An open end is beyond all numbers and is stored as the first or the
 * last instant. So it fulfils no limit on its own side, and every limit on the other.
 */
export function dateRange(bounds: Interval, end: 'low' | 'high'): Range {
  const [first, last] = [EARLIEST.getTime(), LATEST.getTime()];
  // The least that is no open low end, and the greatest that is no open high end.
  const [least, greatest] = end === 'low' ? [first + 1, last] : [first, last - 1];
  const { gt, gte, lt, lte } = bounds;
  const date = (time: number): Date => new Date(Math.min(Math.max(time, first), last));
  return {
    ...(gt !== undefined && { gt: date(clamp(Math.floor(gt), least - 1, greatest)) }),
    ...(gte !== undefined && { gte: date(clamp(Math.ceil(gte), least, greatest + 1)) }),
    ...(lt !== undefined && { lt: date(clamp(Math.ceil(lt), least, greatest + 1)) }),
    ...(lte !== undefined && { lte: date(clamp(Math.floor(lte), least - 1, greatest)) }),
  };
}

function clamp(value: number, least: number, greatest: number): number {
  return Math.min(Math.max(value, least), greatest);
}

/** Bounds of the time of a version, of which both ends are alike. */
export function timeRanges({ low, high }: { readonly low?: Interval; readonly high?: Interval }): Range[] {
  return [low, high].flatMap((bounds) => (bounds === undefined ? [] : [dateRange(bounds, 'high')]));
}
