import type { Condition } from '../search/query/query.js';

/** A condition as text that no other has, for memories of what was found. JSON has no infinite numbers. */
export function conditionText(condition: Condition): string {
  const text = JSON.stringify(condition);
  // They become `null`, as does a system that must not be there. To look at each value takes several times as long.
  return text.includes('null') ? JSON.stringify(condition, withInfinite) : text;
}

function withInfinite(_: string, value: unknown): unknown {
  return typeof value === 'number' && Math.abs(value) === Infinity ? String(value) : value;
}
