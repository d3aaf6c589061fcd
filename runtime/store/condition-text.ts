import type { Condition } from '../search/query/query.js';

/** A condition as text that no other has, for memories of what was found. JSON has no infinite numbers. */
export function conditionText(condition: Condition): string {
  return JSON.stringify(condition, (_, value: unknown) => (isInfinite(value) ? String(value) : value));
}

function isInfinite(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) === Infinity;
}
