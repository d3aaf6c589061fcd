/** How long an answer may be used, as its headers say. In seconds. */
export interface Caching {
  /** From the moment it was received; 0: not at all. */
  readonly fresh: number;
  /** For how long after that it may be used where no newer one can be had. */
  readonly staleIfError: number;
}

/** Bounds of what we make of it. In seconds. */
export interface CachingBounds {
  /** Where the headers say nothing. */
  readonly silent: number;
  readonly least: number;
  readonly most: number;
}

/** Headers of an answer, names in lower case. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Reads `Cache-Control`, `Age` and, without max-age, `Expires`. https://www.rfc-editor.org/rfc/rfc9111#section-4.2
 *
 * @param now milliseconds since the epoch
 */
export function readCaching(headers: Headers, now: number, bounds: CachingBounds): Caching {
  const directives = readDirectives(textOf(headers['cache-control']));
  const limit = (seconds: number): number => Math.min(Math.max(seconds, bounds.least), bounds.most);
  if (directives.has('no-store') || directives.has('no-cache')) return { fresh: bounds.least, staleIfError: 0 };
  const age = secondsOf(textOf(headers['age'])) ?? 0;
  const lifetime = directives.has('max-age')
    ? (secondsOf(directives.get('max-age')) ?? 0)
    : untilExpiry(textOf(headers['expires']), textOf(headers['date']), now);
  const staleIfError = Math.min(secondsOf(directives.get('stale-if-error')) ?? 0, bounds.most);
  return { fresh: limit(lifetime === undefined ? bounds.silent : Math.max(lifetime - age, 0)), staleIfError };
}

function readDirectives(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const part of text.slice(0, 1000).split(',')) {
    const [name = '', value = ''] = part.split('=', 2).map((each) => each.trim());
    // Of two the first counts, as with the most wary of caches.
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), value.replace(/^"(.*)"$/, '$1'));
  }
  return found;
}

/** A time that cannot be read lies in the past. RFC 9111 §5.3. */
function untilExpiry(expires: string, date: string, now: number): number | undefined {
  if (expires === '') return undefined;
  const until = Date.parse(expires);
  const from = Date.parse(date);
  return Number.isNaN(until) ? 0 : Math.max((until - (Number.isNaN(from) ? now : from)) / 1000, 0);
}

function secondsOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}

function textOf(value: string | readonly string[] | undefined): string {
  return typeof value === 'string' ? value : (value ?? []).join(', ');
}
