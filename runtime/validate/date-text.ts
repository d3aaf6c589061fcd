/**
 * Dates and times as FHIR writes them. As the definitions demand beyond their patterns, a date is a day of the calendar:
 * 2023-02-29 is none. A leap second is allowed at any time. https://hl7.org/fhir/R5/datatypes.html#date
 */

const MONTH = '(?!0000)[0-9]{4}-(?:0[1-9]|1[0-2])';
const DAY = `${MONTH}-(?:0[1-9]|[12][0-9]|3[01])`;
const TIME = '(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?:\\.[0-9]{1,9})?';
const INSTANT = `${DAY}T${TIME}(?:Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))`;
const DATE = `(?!0000)[0-9]{4}|${MONTH}|${DAY}`;

/** Tests for `YYYY`, `YYYY-MM` or `YYYY-MM-DD`. https://hl7.org/fhir/R5/datatypes.html#date */
export const isDate = calendarTest(DATE);

/** Tests for a date, or a day with time and zone. https://hl7.org/fhir/R5/datatypes.html#dateTime */
export const isDateTime = calendarTest(`${DATE}|${INSTANT}`);

/** Tests for a day with time and zone. https://hl7.org/fhir/R5/datatypes.html#instant */
export const isInstant = calendarTest(INSTANT);

const WHOLE_TIME = new RegExp(`^${TIME}$`);

/** Whether a text is `hh:mm:ss` and up to nine digits of a second. https://hl7.org/fhir/R5/datatypes.html#time */
export function isTime(text: string): boolean {
  return WHOLE_TIME.test(text);
}

function calendarTest(pattern: string): (text: string) => boolean {
  const whole = new RegExp(`^(?:${pattern})$`);
  return (text) => whole.test(text) && isInCalendar(text);
}

/** Days of each month; of February those of leap years. */
const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Whether the month that a text has, if any, has its day. */
function isInCalendar(text: string): boolean {
  const day = Number(text.slice(8, 10));
  if (day < 29) return true;
  const month = Number(text.slice(5, 7));
  return day <= DAYS[month - 1]! && (month !== 2 || isLeapYear(Number(text.slice(0, 4))));
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}
