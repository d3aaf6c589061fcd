import { isInstant } from '../../validate/date-text.js';
import { secondOf } from '../second-of.js';

/**
 * An instant in UTC, so that texts are in the order of time: `+00:00` is before any point and any digit, which `Z` is not, and a fraction
 * ends in no zero. What has no time is as it was.
 */
export function utcOf(text: string): string {
  // Nine digits of a second at most: the pattern below takes long for thousands.
  if (!isInstant(text)) return text;
  const [, second = '', fraction = '', zone = ''] = /^(.{19})(?:\.(\d*?)0*)?(Z|[+-]\d\d:\d\d)$/.exec(text) ?? [];
  const utc = new Date(secondOf(second, zone)).toISOString();
  // Years before 0 and after 9999 have a sign, and FHIR has no year 0.
  if (!/^(?!0000)\d/.test(utc)) return text;
  return `${utc.slice(0, 19)}${fraction === '' ? '' : `.${fraction}`}+00:00`;
}
