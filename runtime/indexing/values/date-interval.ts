import { utc, type Zone } from './zone.js';

/** An interval of instants, in milliseconds since the epoch, both ends within. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/**
 * The interval that a FHIR date, dateTime or instant covers: `2015` the year, `2015-02-07` the day, a time the
 * second, or the part of it that its decimals tell (down to milliseconds; the rest is cut). Minutes alone
 * (`2015-02-07T13:28`) are read too: searches may leave the seconds out. An offset in the text counts; without one
 * the text is the wall time of `zone`. Undefined for text that is no such date (`2015-02-30`, `24:00`).
 * https://hl7.org/fhir/R5/search.html#date, https://hl7.org/fhir/R5/datatypes.html#dateTime
 */
export function dateInterval(text: string, zone: Zone = utc): Interval | undefined {
  const { length } = text;
  const year = digits(text, 0, 4);
  if (year < 1) return undefined;
  if (length === 4) return whole(daysBefore(year, 1, 1), daysBefore(year + 1, 1, 1), zone);
  const month = text.charCodeAt(4) === DASH ? digits(text, 5, 2) : -1;
  if (month < 1 || month > 12) return undefined;
  if (length === 7) {
    const next = month === 12 ? daysBefore(year + 1, 1, 1) : daysBefore(year, month + 1, 1);
    return whole(daysBefore(year, month, 1), next, zone);
  }
  const day = text.charCodeAt(7) === DASH ? digits(text, 8, 2) : -1;
  if (day < 1 || day > daysIn(year, month)) return undefined;
  const days = daysBefore(year, month, day);
  if (length === 10) return whole(days, days + 1, zone);
  return text.charCodeAt(10) === CAPITAL_T ? timeInterval(text, days * DAY, zone) : undefined;
}

const DAY = 86_400_000;
const DASH = 45;
const COLON = 58;
const DOT = 46;
const CAPITAL_T = 84;
const CAPITAL_Z = 90;
const PLUS = 43;

/** The time part, from position 11 on. */
function timeInterval(text: string, midnight: number, zone: Zone): Interval | undefined {
  const hour = digits(text, 11, 2);
  const minute = text.charCodeAt(13) === COLON ? digits(text, 14, 2) : -1;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return undefined;
  let wallTime = midnight + (hour * 60 + minute) * 60_000;
  let width = 60_000;
  let at = 16;
  if (text.charCodeAt(at) === COLON) {
    const second = digits(text, 17, 2);
    if (second < 0 || second > 60) return undefined;
    // 60 is a leap second: the end of its own minute, so that it belongs to its own day.
    wallTime += second === 60 ? 59_999 : second * 1000;
    width = second === 60 ? 1 : 1000;
    at = 19;
    if (text.charCodeAt(at) === DOT) {
      const start = ++at;
      for (let d = digit(text, at); d >= 0; d = digit(text, ++at)) {
        if (width === 1) continue;
        width /= 10;
        wallTime += d * width;
      }
      if (at === start) return undefined;
    }
  }
  const low = at === text.length ? zone(wallTime) : withOffset(text, at, wallTime);
  return low === undefined ? undefined : { low, high: low + width - 1 };
}

/** The instant of a wall time whose offset (`Z`, `+hh:mm`) is at this position and ends the text. */
function withOffset(text: string, at: number, wallTime: number): number | undefined {
  const sign = text.charCodeAt(at);
  if (sign === CAPITAL_Z) return text.length === at + 1 ? wallTime : undefined;
  if ((sign !== PLUS && sign !== DASH) || text.length !== at + 6 || text.charCodeAt(at + 3) !== COLON) return undefined;
  const hours = digits(text, at + 1, 2);
  const minutes = digits(text, at + 4, 2);
  if (hours < 0 || hours > 14 || minutes < 0 || minutes > 59) return undefined;
  const offset = (hours * 60 + minutes) * 60_000;
  return sign === PLUS ? wallTime - offset : wallTime + offset;
}

/** Whole days: from the start of one up to the start of another. */
function whole(first: number, next: number, zone: Zone): Interval {
  return { low: zone(first * DAY), high: zone(next * DAY) - 1 };
}

function digit(text: string, at: number): number {
  const d = text.charCodeAt(at) - 48;
  return d >= 0 && d <= 9 ? d : -1;
}

/** The number that so many digits at a position write; -1 where one of them is none. */
function digits(text: string, at: number, count: number): number {
  let number = 0;
  for (let i = at; i < at + count; i++) {
    const d = digit(text, i);
    if (d < 0) return -1;
    number = number * 10 + d;
  }
  return number;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Days from 1970-01-01 to a date of the Gregorian calendar (`Date.UTC` moves the years 0 to 99 to 1900). */
function daysBefore(year: number, month: number, day: number): number {
  // Years that begin in March put the leap day last.
  const y = month > 2 ? year : year - 1;
  const era = Math.floor(y / 400);
  const ofEra = y - era * 400;
  const ofYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  return era * 146_097 + ofEra * 365 + Math.floor(ofEra / 4) - Math.floor(ofEra / 100) + ofYear - 719_468;
}
