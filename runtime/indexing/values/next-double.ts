const double = new Float64Array(1);
const bits = new BigInt64Array(double.buffer);

/** The least double above a finite one. */
export function nextAbove(value: number): number {
  // Of both zeros the next is the same.
  if (value === 0) return Number.MIN_VALUE;
  double[0] = value;
  bits[0] = (bits[0] ?? 0n) + (value > 0 ? 1n : -1n);
  return double[0];
}

/** The greatest double below a finite one. */
export function nextBelow(value: number): number {
  return -nextAbove(-value);
}

/** The double within the finite ones that is nearest to a value: what lies beyond them is compared as the greatest one. */
export function toFinite(value: number): number {
  return Math.max(-Number.MAX_VALUE, Math.min(value, Number.MAX_VALUE));
}
