import { Decimal } from '../../fhir/decimal.js';
import { isObject, type JsonValue } from '../../fhir/resource.js';

/** JSON text that stands for a value of the answer. */
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
  if (Array.isArray(value)) return `[${value.map(writeTree).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, each]) => each !== undefined);
  return `{${members.map(([name, each]) => `${JSON.stringify(name)}:${writeTree(each)}`).join(',')}}`;
}
