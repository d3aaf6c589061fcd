/** Times between two attempts, in milliseconds: the first, and the greatest. */
const PAUSE = { first: 500, greatest: 300_000 };

/** By how much each differs by chance. */
const JITTER = 0.2;

/** Greatest time that a receiver may ask for by `Retry-After`, in milliseconds. */
const MOST_ASKED = 3_600_000;

/**
 * How long to wait after an attempt that failed: 0.5, 1, 2, 4 … 300 s, each a little more or less.
 *
 * @param failures attempts that failed in a row, that one included
 * @param asked what the receiver asked for, in milliseconds
 */
export function pauseAfterFailure(failures: number, asked = 0): number {
  const pause = Math.min(PAUSE.greatest, PAUSE.first * 2 ** Math.min(failures - 1, 20));
  const varied = pause * (1 - JITTER + 2 * JITTER * Math.random());
  return Math.max(varied, Math.min(asked, MOST_ASKED));
}

/** The milliseconds that a header `Retry-After` asks for; undefined: it asks for none. https://www.rfc-editor.org/rfc/rfc9110#name-retry-after */
export function readRetryAfter(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : Math.max(0, time - now);
}
