import { Decimal } from '../../fhir/decimal.js';
import { isJson } from '../../path/evaluate/item.js';

/** Whether a value is exactly the one that a profile fixes; the order of properties does not count, 1.0 is 1. */
export function isFixed(value: unknown, fixed: unknown): boolean {
  if (isScalar(fixed)) return isSame(value, fixed);
  if (Array.isArray(fixed)) {
    return Array.isArray(value) && value.length === fixed.length && fixed.every((each, i) => isFixed(value[i], each));
  }
  if (!isJson(value) || !isJson(fixed)) return false;
  const names = Object.keys(fixed);
  return names.length === Object.keys(value).length && names.every((name) => isFixed(value[name], fixed[name]));
}

/** Whether a value has all that a pattern has; of a list each item anywhere. */
export function fitsPattern(value: unknown, pattern: unknown): boolean {
  if (isScalar(pattern)) return isSame(value, pattern);
  if (Array.isArray(pattern)) {
    return Array.isArray(value) && pattern.every((each) => value.some((item) => fitsPattern(item, each)));
  }
  if (!isJson(value) || !isJson(pattern)) return false;
  return Object.keys(pattern).every((name) => fitsPattern(value[name], pattern[name]));
}

/** A value as a message shows it, and not much of it. */
export function showJson(value: unknown): string {
  const text =
    JSON.stringify(value, (_key, each: unknown) => (each instanceof Decimal ? Number(each.text) : each)) ?? '';
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null || value instanceof Decimal;
}

function isSame(value: unknown, other: unknown): boolean {
  if (value === other) return true;
  const [a, b] = [numberOf(value), numberOf(other)];
  return a !== undefined && a === b;
}

function numberOf(value: unknown): number | undefined {
  return value instanceof Decimal ? Number(value.text) : typeof value === 'number' ? value : undefined;
}
