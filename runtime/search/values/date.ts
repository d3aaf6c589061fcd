import type { DateEntry } from '../entry.js';
import type { Visit } from '../../path/visit.js';
import type { Converters, Harvest, Target } from './converter.js';
import { dateInterval, type Interval } from './date-interval.js';
import { objectOf, objectsOf } from './json.js';

type Ends = Partial<Interval>;

/**
 * Entries of date parameters. https://hl7.org/fhir/R5/search.html#date
 *
 * A Period without a start or an end is open there; one whose end lies before its start gives no entry. Of a Timing
 * "only the outer limits matter": one interval around its events and `boundsPeriod`; bounds that are a Duration or a
 * Range hang nowhere in time and give nothing.
 */
export const dateConverters: Converters = {
  date: moment,
  dateTime: moment,
  instant: moment,
  Period: (target) => (value, harvest) => {
    const ends = periodEnds(objectOf(value), target);
    if (ends !== undefined) harvest.out.push(dateEntry(target.param, ends));
  },
  Timing: (target) => (value, harvest) => {
    const ends = timingEnds(value, target);
    if (ends !== undefined) harvest.out.push(dateEntry(target.param, ends));
  },
};

function moment({ param, zone }: Target): Visit<Harvest> {
  return (value, { out }) => {
    const interval = typeof value === 'string' ? dateInterval(value, zone) : undefined;
    if (interval !== undefined) out.push({ kind: 'date', param, low: interval.low, high: interval.high });
  };
}

function dateEntry(param: string, { low, high }: Ends): DateEntry {
  if (low === undefined) return high === undefined ? { kind: 'date', param } : { kind: 'date', param, high };
  return high === undefined ? { kind: 'date', param, low } : { kind: 'date', param, low, high };
}

function periodEnds(period: Readonly<Record<string, unknown>> | undefined, { zone }: Target): Ends | undefined {
  if (period === undefined) return undefined;
  const { start, end } = period;
  const ends: { low?: number; high?: number } = {};
  if (typeof start === 'string') {
    const interval = dateInterval(start, zone);
    if (interval === undefined) return undefined;
    ends.low = interval.low;
  }
  if (typeof end === 'string') {
    const interval = dateInterval(end, zone);
    if (interval === undefined) return undefined;
    ends.high = interval.high;
  }
  if (ends.low === undefined && ends.high === undefined) return undefined;
  return ends.low !== undefined && ends.high !== undefined && ends.low > ends.high ? undefined : ends;
}

function timingEnds(value: unknown, target: Target): Ends | undefined {
  const timing = objectOf(value);
  if (timing === undefined) return undefined;
  const events: readonly unknown[] = Array.isArray(timing['event']) ? timing['event'] : [timing['event']];
  const spans: Ends[] = [];
  for (const event of events) {
    const interval = typeof event === 'string' ? dateInterval(event, target.zone) : undefined;
    if (interval !== undefined) spans.push(interval);
  }
  for (const repeat of objectsOf(timing['repeat'])) {
    const bounds = periodEnds(objectOf(repeat['boundsPeriod']), target);
    if (bounds !== undefined) spans.push(bounds);
  }
  return spans.length === 0 ? undefined : spans.reduce(around);
}

/** The smallest interval around two; open where one of them is. */
function around(a: Ends, b: Ends): Ends {
  return {
    ...(a.low !== undefined && b.low !== undefined && { low: Math.min(a.low, b.low) }),
    ...(a.high !== undefined && b.high !== undefined && { high: Math.max(a.high, b.high) }),
  };
}
