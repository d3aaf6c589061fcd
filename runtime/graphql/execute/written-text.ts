import { Decimal } from '../../fhir/decimal.js';
import { isObject, type JsonValue } from '../../fhir/resource.js';

/** A value of the answer that is JSON text already. */
class WrittenText {
  constructor(readonly text: string) {}
}

/** A value of the answer whose text is known. `writeTree` writes it, and nothing else may look at it. */
export function textValue(text: string): JsonValue {
  return new WrittenText(text) as unknown as JsonValue;
}

/** Writes JSON: texts and decimals as they are. */
export function writeTree(value: JsonValue): string {
  if (value instanceof WrittenText || value instanceof Decimal) return value.text;
  let text = '';
  if (Array.isArray(value)) {
    for (const each of value) text += (text === '' ? '' : ',') + writeTree(each);
    return `[${text}]`;
  }
  if (!isObject(value)) return JSON.stringify(value);
  for (const [name, each] of Object.entries(value)) {
    if (each !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${writeTree(each)}`;
  }
  return `{${text}}`;
}
