import { FhirError } from '../../fhir/errors.js';
import { HISTORY_PARAMETERS } from '../../search/control-parameters.js';
import { dateInterval, type Interval } from '../../indexing/values/date-interval.js';
import type { HistoryQuery } from '../../store/store.js';
import type { Call } from '../../core/call.js';
import { singleParameter } from '../../core/parameters.js';
import type { Services } from '../../core/services.js';

/** The names of the parameters that histories take here, but for page links. */
export function historyParameters({ subset }: Pick<Services, 'subset'>): readonly string[] {
  const names = Object.keys(HISTORY_PARAMETERS);
  return subset === undefined ? names.filter((name) => name !== '_elements') : names;
}

/** Versions on a page if the client sends no `_count`. */
const DEFAULT_COUNT = 20;

/** The requested part of a history. */
export type HistorySelection = Pick<HistoryQuery, 'since' | 'at' | 'count'>;

/**
 * Reads `_since`, `_at`, `_count`, `_sort` and `_summary=count`. Dates may have any precision; one without an offset is
 * read in the configured zone. `_since` means the first instant of its period, `_at` the whole period.
 *
 * @throws FhirError `parameter-invalid`
 */
export function readHistoryQuery(call: Call, services: Pick<Services, 'limits' | 'zone'>): HistorySelection {
  const since = readDate(call, '_since', services);
  const at = readDate(call, '_at', services);
  if (since !== undefined && at !== undefined) {
    throw new FhirError('parameter-invalid', '_since and _at exclude each other');
  }
  const sort = singleParameter(call, '_sort');
  if (sort !== undefined && sort !== '-_lastUpdated' && call.prefer.handling !== 'lenient') {
    throw new FhirError('parameter-invalid', 'A history is sorted newest first: _sort can only be -_lastUpdated');
  }
  const isTotalOnly = singleParameter(call, '_summary') === 'count';
  return {
    ...(since === undefined ? {} : { since: since.low }),
    ...(at === undefined ? {} : { at: { from: at.low, to: at.high } }),
    count: isTotalOnly ? 0 : readCount(call, services.limits.historyPage),
  };
}

function readCount(call: Call, most: number): number {
  const text = singleParameter(call, '_count');
  if (text === undefined) return Math.min(DEFAULT_COUNT, most);
  if (!/^[0-9]{1,9}$/.test(text)) {
    throw new FhirError('parameter-invalid', '_count has to be a whole number from 0');
  }
  return Math.min(Number(text), most);
}

function readDate(call: Call, name: string, { zone }: Pick<Services, 'zone'>): Interval | undefined {
  const text = singleParameter(call, name);
  if (text === undefined) return undefined;
  // The "+" of an offset arrives as a space if the client did not escape it.
  const interval = dateInterval(text.replace(/ (?=[0-9]{2}:[0-9]{2}$)/, '+'), zone);
  if (interval === undefined) {
    throw new FhirError('parameter-invalid', `${name} has to be a date or an instant, such as 2025-03-01T12:00:00Z`);
  }
  return interval;
}
