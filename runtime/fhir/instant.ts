/** An instant in UTC with milliseconds: `2025-03-01T12:00:00.000Z`. https://hl7.org/fhir/R5/datatypes.html#instant */
export function formatInstant(milliseconds: number): string {
  if (milliseconds !== last.time) last = { time: milliseconds, text: new Date(milliseconds).toISOString() };
  return last.text;
}

/** Under load many things happen in a millisecond. */
let last = { time: NaN, text: '' };

/** An HTTP date, for `Last-Modified`; it has whole seconds. RFC 9110, 5.6.7 */
export function formatHttpDate(milliseconds: number): string {
  return new Date(milliseconds).toUTCString();
}

const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*[0-9]{2}:[0-9]{2}:[0-9]{2}/;

/** The milliseconds of an HTTP date, or undefined for text that is none (RFC 9110 has such conditions ignored). */
export function parseHttpDate(text: string): number | undefined {
  if (!HTTP_DATE.test(text)) return undefined;
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}
