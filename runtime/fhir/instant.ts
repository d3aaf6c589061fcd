/** An instant in UTC with milliseconds: `2025-03-01T12:00:00.000Z`. https://hl7.org/fhir/R5/datatypes.html#instant */
export function formatInstant(milliseconds: number): string {
  const time = Math.trunc(milliseconds);
  const { begin, iso } = dayOf(time);
  const rest = (time - begin) % 1000;
  return `${iso}T${timeOfDay(time - begin)}.${rest < 100 ? '0' : ''}${twoDigits(rest)}Z`;
}

/** An HTTP date, for `Last-Modified`; it has whole seconds. RFC 9110, 5.6.7 */
export function formatHttpDate(milliseconds: number): string {
  const time = Math.trunc(milliseconds);
  const { begin, http } = dayOf(time);
  return `${http} ${timeOfDay(time - begin)} GMT`;
}

const [HOUR, MINUTE] = [3_600_000, 60_000];
const DAY = 24 * HOUR;

/** A day as both forms begin. V8 takes a hundredth of a read for each date that it formats, and most are of few days. */
let known = { begin: NaN, iso: '', http: '' };

/** @throws RangeError for what is no time */
function dayOf(time: number): typeof known {
  const { begin } = known;
  if (time >= begin && time < begin + DAY) return known;
  const date = new Date(Math.floor(time / DAY) * DAY);
  const [iso = ''] = date.toISOString().split('T', 1);
  known = { begin: date.getTime(), iso, http: date.toUTCString().slice(0, -' 00:00:00 GMT'.length) };
  return known;
}

/** @param time since the day began */
function timeOfDay(time: number): string {
  const [hour, minute, second] = [
    Math.floor(time / HOUR),
    Math.floor(time / MINUTE) % 60,
    Math.floor(time / 1000) % 60,
  ];
  return `${twoDigits(hour)}:${twoDigits(minute)}:${twoDigits(second)}`;
}

/** Two digits at least. */
function twoDigits(number: number): string {
  return number < 10 ? `0${number}` : String(number);
}

const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*[0-9]{2}:[0-9]{2}:[0-9]{2}/;

/** The milliseconds of an HTTP date, or undefined for text that is none (RFC 9110 has such conditions ignored). */
export function parseHttpDate(text: string): number | undefined {
  if (!HTTP_DATE.test(text)) return undefined;
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}
