/**
 * An instant in UTC, so that texts are in the order of time: `+00:00` is before any point and any digit, which `Z` is not, and a fraction
 * ends in no zero. What has no time is as it was.
 */
export function utcOf(text: string): string {
  const [, second = '', fraction = '', zone = ''] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d*?)0*)?(Z|[+-]\d\d:\d\d)$/.exec(text) ?? [];
  // A leap second is the one after it.
  const isLeap = second.endsWith(':60');
  const time = Date.parse(`${isLeap ? second.replace(/60$/, '59') : second}${zone}`) + (isLeap ? 1000 : 0);
  const utc = Number.isNaN(time) ? '' : new Date(time).toISOString();
  // Years before 0 and after 9999 have a sign.
  if (!/^\d/.test(utc)) return text;
  return `${utc.slice(0, 19)}${fraction === '' ? '' : `.${fraction}`}+00:00`;
}
