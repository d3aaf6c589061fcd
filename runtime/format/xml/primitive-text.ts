import type { PrimitiveRow } from '../../contract/types.js';
import { Decimal } from '../../fhir/decimal.js';
import type { JsonValue } from '../../fhir/resource.js';

const JSON_NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** Primitives in which white space at the ends is part of the value. */
const VERBATIM: ReadonlySet<string> = new Set(['string', 'markdown', 'xhtml']);

/**
 * The JSON value for the text of a primitive: a number as the JSON reader would give it, a boolean, or the text without white
 * space around it, which counts in strings alone (patterns are the validator's). Undefined where JSON has no form for it.
 * https://hl7.org/fhir/R5/xml.html, https://hl7.org/fhir/R5/json.html#primitive
 */
export function parsePrimitive(row: PrimitiveRow, sent: string): string | number | boolean | Decimal | undefined {
  const text = VERBATIM.has(row.name) ? sent : sent.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
  switch (row.json) {
    case 'string':
      return text;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'number': {
      // The pattern of integer admits a plus sign, which JSON does not know; those of other numbers do not.
      const unsigned = text.startsWith('+') && isSigned(row, text) ? text.slice(1) : text;
      if (!JSON_NUMBER.test(unsigned)) return undefined;
      const value = Number(unsigned);
      return String(value) === unsigned ? value : new Decimal(unsigned);
    }
  }
}

function isSigned({ pattern }: PrimitiveRow, text: string): boolean {
  return pattern !== undefined && new RegExp(`^(?:${pattern})$`, 'u').test(text);
}

/** The text of a primitive in XML, or undefined where the JSON value is of another kind than the type has. */
export function primitiveText(row: PrimitiveRow, value: JsonValue): string | undefined {
  if (row.json === 'number') {
    if (value instanceof Decimal) return value.text;
    return typeof value === 'number' && Number.isFinite(value) ? String(value) : undefined;
  }
  return typeof value === row.json ? String(value) : undefined;
}
