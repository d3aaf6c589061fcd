/** Scheme and host of a URL that has a capital there. */
const CAPITAL = /^(?=[^/]*(?:\/\/[^/]*)?[A-Z])[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/]*/;

/**
 * A URL as bases are compared: http and https of one address are the same server, and the case of scheme and host does not
 * matter (RFC 3986 §6.2.2.1). https://hl7.org/fhir/R5/http.html#root
 */
export function baseKey(url: string): string {
  const key = CAPITAL.test(url) ? url.replace(CAPITAL, (start) => start.toLowerCase()) : url;
  return key.startsWith('https://') ? `http://${key.slice('https://'.length)}` : key;
}
