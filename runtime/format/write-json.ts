import { Decimal } from '../fhir/decimal.js';
import type { JsonValue } from '../fhir/resource.js';

/**
 * Writes JSON. The text of a `Decimal` goes out as it came in. https://hl7.org/fhir/R5/json.html
 *
 * @param indent Spaces for each level; 0: all on one line
 */
export function writeJson(value: JsonValue, indent = 0): string {
  return holdsDecimal(value) ? write(value, ' '.repeat(indent), '\n') : JSON.stringify(value, null, indent);
}

function holdsDecimal(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof Decimal) return true;
  for (const child of Object.values(value)) {
    if (typeof child === 'object' && holdsDecimal(child as JsonValue)) return true;
  }
  return false;
}

/** `lineEnd` is the line feed with the spaces of the level on which the value begins. */
function write(value: JsonValue, step: string, lineEnd: string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (value instanceof Decimal) return value.text;
  const inner = lineEnd + step;
  if (Array.isArray(value)) {
    const parts = value.map((child) => write(child, step, inner));
    return join('[', parts, ']', step, lineEnd);
  }
  const colon = step === '' ? ':' : ': ';
  const parts: string[] = [];
  for (const [name, child] of Object.entries(value)) {
    if (child !== undefined) parts.push(JSON.stringify(name) + colon + write(child, step, inner));
  }
  return join('{', parts, '}', step, lineEnd);
}

function join(open: string, parts: readonly string[], close: string, step: string, lineEnd: string): string {
  if (parts.length === 0) return open + close;
  if (step === '') return open + parts.join(',') + close;
  return open + lineEnd + step + parts.join(',' + lineEnd + step) + lineEnd + close;
}
