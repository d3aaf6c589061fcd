/**
 * How large the soaks of this run are: 1, or what `KILN_SOAK` says, as 5 where a night is free for them.
 *
 * @throws Error where that is no number above 0
 */
function readScale(text = '1'): number {
  const scale = Number(text);
  if (!(scale > 0 && scale < Infinity)) throw new Error(`KILN_SOAK is a number above 0, not "${text}"`);
  return scale;
}

const scale = readScale(process.env['KILN_SOAK']);

/** So many requests, kills or random queries, at scale 1. */
export function soak(count: number): number {
  return Math.max(1, Math.round(count * scale));
}
