import { greatest } from '../fhir/lists.js';
import { ALL_SETTINGS } from './settings.js';
import type { Origin } from './read-config.js';

/** The configuration for people: key, value and origin in columns; secrets are masked. */
export function printConfig(origins: readonly Origin[]): string[] {
  const rows = origins.map(({ key, source, value }) => [key, show(key, value), source ?? 'default'] as const);
  const widths = [0, 1].map((column) => greatest(rows.map((row) => row[column]!.length)));
  return rows.map(([key, value, source]) => `${key.padEnd(widths[0]!)}  ${value.padEnd(widths[1]!)}  ${source}`);
}

function show(key: string, value: unknown): string {
  const { mask, format, initialText = 'none' } = ALL_SETTINGS.get(key) ?? {};
  // A setting without a value has the default of the help: the audit sink, for example, depends on other settings.
  if (value === undefined || (Array.isArray(value) && value.length === 0 && mask === undefined)) return initialText;
  if (mask !== undefined) return String(mask(value));
  return format === undefined ? String(value) : format(value);
}
