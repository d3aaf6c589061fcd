import { FhirError } from '../../fhir/errors.js';

/**
 * Whether a URI is another or lies below it: for URLs by whole segments of the path, for URNs and OIDs by whole parts
 * (`urn:oid:1.2` is above `urn:oid:1.2.3`, not above `urn:oid:1.23`). https://hl7.org/fhir/R5/search.html#modifieruribelow
 */
export function isUriBelow(uri: string | undefined, above: string): boolean {
  if (uri === undefined || !uri.startsWith(above)) return false;
  if (uri.length === above.length) return true;
  return above.endsWith('/') || separatorsOf(above).includes(uri.charAt(above.length));
}

/** Returns the characters that may follow a URI in one that is below it. */
export function separatorsOf(uri: string): string {
  if (/^urn:oid:/i.test(uri)) return '.';
  return /^urn:/i.test(uri) ? ':/' : '/';
}

/** Most characters that all URIs above one have together: a long path has the sum of its beginnings. */
const MAX_ABOVE = 1_000_000;

/**
 * All that a URI is, or lies below. Every beginning of it can be one that ends before a separator or after a slash.
 *
 * @throws FhirError `parameter-invalid` where they are too many
 */
export function urisAbove(uri: string): readonly string[] {
  const found: string[] = [];
  let size = 0;
  for (let end = 0; end <= uri.length; end++) {
    if (end < uri.length && !'./:'.includes(uri.charAt(end)) && uri.charAt(end - 1) !== '/') continue;
    const above = uri.slice(0, end);
    const isAbove = end === uri.length || above.endsWith('/') || separatorsOf(above).includes(uri.charAt(end));
    if (!isAbove) continue;
    size += end;
    if (size > MAX_ABOVE) throw new FhirError('parameter-invalid', 'A URI with so many parts cannot be searched for');
    found.push(above);
  }
  return found;
}
