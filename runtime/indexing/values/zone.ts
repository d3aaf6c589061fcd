import { memoize } from '../../fhir/memory/memoize.js';

/**
 * A time zone: the instant (milliseconds since the epoch) at which a wall clock there shows a time, which is given
 * like UTC. A time that a change of the clocks skips is read with the offset before the change, one that it
 * repeats is the earlier.
 */
export type Zone = (wallTime: number) => number;

/** UTC. */
export const utc: Zone = (wallTime) => wallTime;

const OFFSET = /^([+-])(\d\d):(\d\d)$/;
const CACHED = 20_000;

/**
 * @param name `UTC`, a fixed offset (`+02:00`), or an IANA name (`Europe/Berlin`)
 * @throws RangeError for a name that is none of these
 */
export function createZone(name: string): Zone {
  if (name === 'UTC' || name === 'Z') return utc;
  const fixed = OFFSET.exec(name);
  if (fixed) {
    const minutes = Number(fixed[2]) * 60 + Number(fixed[3]);
    const offset = (fixed[1] === '-' ? -minutes : minutes) * 60_000;
    return (wallTime) => wallTime - offset;
  }
  const offsetAt = ianaOffset(name);
  return memoize((wallTime: number) => instantOf(wallTime, offsetAt), CACHED);
}

const DAY = 86_400_000;

function instantOf(wallTime: number, offsetAt: (instant: number) => number): number {
  // Offsets change seldom: one of those a day before and a day after holds.
  const before = offsetAt(wallTime - DAY);
  const after = offsetAt(wallTime + DAY);
  const fits = (offset: number): boolean => offsetAt(wallTime - offset) === offset;
  return wallTime - (fits(before) || !fits(after) ? before : after);
}

/** Offset of an IANA zone at an instant, in milliseconds. */
function ianaOffset(name: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  return (instant) => {
    const part = format.formatToParts(instant).find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT';
    const [, sign, hours, minutes, seconds] = /^GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(part) ?? [];
    const size = (Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0)) * 1000;
    return sign === '-' ? -size : size;
  };
}
