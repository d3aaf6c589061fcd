import type { DateEntry } from '../entry.js';
import type { Visit } from '../../path/visit.js';
import type { Converters, Harvest, Target } from './converter.js';
import { dateInterval, type Interval } from './date-interval.js';
import { objectOf, objectsOf } from './json.js';

type Ends = Partial<Interval>;

/**
 * Entries of date parameters. https://hl7.org/fhir/R5/search.html#date
 *
 * A Period without a start or an end is open there; one whose end lies before its start counts as the time between the two. Of a Timing
 * "only the outer limits matter": one interval around its events and `boundsPeriod`; bounds that are a Duration or a
 * Range hang nowhere in time and give nothing.
 */
export const dateConverters: Converters = {
  date: moment,
  dateTime: moment,
  instant,
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

/** A point in time of no width, however exactly it is written. https://hl7.org/fhir/R5/search.html#date */
function instant({ param, zone }: Target): Visit<Harvest> {
  return (value, { out }) => {
    const interval = typeof value === 'string' ? dateInterval(value, zone) : undefined;
    if (interval !== undefined) out.push({ kind: 'date', param, low: interval.low, high: interval.low });
  };
}

function dateEntry(param: string, { low, high }: Ends): DateEntry {
  if (low === undefined) return high === undefined ? { kind: 'date', param } : { kind: 'date', param, high };
  return high === undefined ? { kind: 'date', param, low } : { kind: 'date', param, low, high };
}

function periodEnds(period: Readonly<Record<string, unknown>> | undefined, { zone }: Target): Ends | undefined {
  if (period === undefined) return undefined;
  const read = (text: unknown): Interval | undefined =>
    typeof text === 'string' ? dateInterval(text, zone) : undefined;
  const [first, last] = [read(period['start']), read(period['end'])];
  if (typeof period['start'] === 'string' && first === undefined) return undefined;
  if (typeof period['end'] === 'string' && last === undefined) return undefined;
  if (first === undefined && last === undefined) return undefined;
  if (first !== undefined && last !== undefined && first.low > last.high) return { low: last.low, high: first.high };
  return { ...(first !== undefined && { low: first.low }), ...(last !== undefined && { high: last.high }) };
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
