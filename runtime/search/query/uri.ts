/**
 * Whether a URI is another or lies below it: for URLs by whole segments of the path, for URNs and OIDs by whole parts
 * (`urn:oid:1.2` is above `urn:oid:1.2.3`, not above `urn:oid:1.23`). https://hl7.org/fhir/R5/search.html#modifieruribelow
 */
export function isUriBelow(uri: string | undefined, above: string): boolean {
  if (uri === undefined || !uri.startsWith(above)) return false;
  if (uri.length === above.length) return true;
  return above.endsWith('/') || separatorsOf(above).includes(uri.charAt(above.length));
}

/** What may follow a URI in one that lies below it. */
export function separatorsOf(uri: string): string {
  if (/^urn:oid:/i.test(uri)) return '.';
  return /^urn:/i.test(uri) ? ':/' : '/';
}
