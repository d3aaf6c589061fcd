import { ALL_SETTINGS } from './settings.js';
import type { Origin } from './read-config.js';

/** The configuration for people: key, value and origin in columns; secrets are masked. */
export function printConfig(origins: readonly Origin[]): string[] {
  const rows = origins.map(({ key, source, value }) => [key, show(key, value), source ?? 'default'] as const);
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map(([key, value, source]) => `${key.padEnd(widths[0]!)}  ${value.padEnd(widths[1]!)}  ${source}`);
}

function show(key: string, value: unknown): string {
  const { mask, format } = ALL_SETTINGS.get(key) ?? {};
  if (value === undefined) return 'off';
  if (mask !== undefined) return String(mask(value));
  return format === undefined ? String(value) : format(value);
}
