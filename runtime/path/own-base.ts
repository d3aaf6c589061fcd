/**
 * A URL as bases are compared: http and https of one address are the same server.
 * https://hl7.org/fhir/R5/http.html#root
 */
export function baseKey(url: string): string {
  return url.startsWith('https://') ? `http://${url.slice('https://'.length)}` : url;
}

/** What follows the base and its slash in an absolute URL, by either scheme; undefined: the URL lies elsewhere, or is relative. */
export function belowBase(url: string, base: string): string | undefined {
  if (base === '') return undefined;
  const [key, own] = [baseKey(url), `${baseKey(base)}/`];
  return key.startsWith(own) ? key.slice(own.length) : undefined;
}
