/**
 * Dates and times as FHIR writes them, read digit by digit. As the definitions demand beyond their patterns, a date is
 * a day of the calendar: 2023-02-29 is none. A leap second is allowed at any time. https://hl7.org/fhir/R5/datatypes.html#date
 */

/** `YYYY`, `YYYY-MM` or `YYYY-MM-DD`. https://hl7.org/fhir/R5/datatypes.html#date */
export function isDate(text: string): boolean {
  return dateEnd(text) === text.length;
}

/** A date, or a day with time and zone. https://hl7.org/fhir/R5/datatypes.html#dateTime */
export function isDateTime(text: string): boolean {
  const end = dateEnd(text);
  return end === text.length || (end === 10 && isTimeAndZone(text));
}

/** A day with time and zone. https://hl7.org/fhir/R5/datatypes.html#instant */
export function isInstant(text: string): boolean {
  return dateEnd(text) === 10 && isTimeAndZone(text);
}

/** `hh:mm:ss` and up to nine digits of a second. https://hl7.org/fhir/R5/datatypes.html#time */
export function isTime(text: string): boolean {
  return timeEnd(text, 0) === text.length;
}

const DAYS = [0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Where the date at the start ends: 4, 7 or 10; -1 where there is none. */
function dateEnd(text: string): number {
  const century = twoDigits(text, 0);
  const rest = twoDigits(text, 2);
  if (century < 0 || rest < 0 || century + rest === 0) return -1;
  if (text.charAt(4) !== '-') return 4;
  const month = twoDigits(text, 5);
  if (month < 1 || month > 12) return -1;
  if (text.charAt(7) !== '-') return 7;
  const day = twoDigits(text, 8);
  if (day < 1 || day > DAYS[month]!) return -1;
  return month === 2 && day === 29 && !isLeapYear(century * 100 + rest) ? -1 : 10;
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

function isTimeAndZone(text: string): boolean {
  if (text.charAt(10) !== 'T') return false;
  const end = timeEnd(text, 11);
  if (end < 0) return false;
  const sign = text.charAt(end);
  if (sign === 'Z') return text.length === end + 1;
  if ((sign !== '+' && sign !== '-') || text.length !== end + 6 || text.charAt(end + 3) !== ':') return false;
  const hour = twoDigits(text, end + 1);
  const minute = twoDigits(text, end + 4);
  return hour >= 0 && minute >= 0 && (hour < 14 ? minute < 60 : hour === 14 && minute === 0);
}

/** Where the time that starts at `at` ends; -1 where there is none. */
function timeEnd(text: string, at: number): number {
  const hour = twoDigits(text, at);
  const minute = twoDigits(text, at + 3);
  const second = twoDigits(text, at + 6);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return -1;
  if (text.charAt(at + 2) !== ':' || text.charAt(at + 5) !== ':') return -1;
  let end = at + 8;
  if (text.charAt(end) !== '.') return end;
  end++;
  const start = end;
  while (isDigit(text.charCodeAt(end))) end++;
  return end > start && end <= start + 9 ? end : -1;
}

/** The number of two digits, or -1. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at);
  const ones = text.charCodeAt(at + 1);
  return isDigit(tens) && isDigit(ones) ? (tens - 0x30) * 10 + (ones - 0x30) : -1;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
