import { Decimal } from '../fhir/decimal.js';
import type { JsonObject } from '../fhir/resource.js';
import { writeJson } from '../format/write-json.js';

/** One line of comma-separated values. https://www.rfc-editor.org/rfc/rfc4180; lines end with LF. */
export function csvLine(fields: readonly string[]): string {
  return `${fields.map(quoted).join(',')}\n`;
}

function quoted(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}

/** A value as the text of a field: a primitive as it is, anything else as JSON; empty: there is none. */
export function fieldText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (value instanceof Decimal) return value.text;
  return typeof value === 'object' ? writeJson(value as JsonObject) : String(value);
}
