import { Decimal } from '../fhir/decimal.js';
import { isObject, type JsonObject, type JsonValue } from '../fhir/resource.js';

/** Values of a list that are shown; the others are counted. */
const SHOWN = 2;

/** Characters of a text that are shown. */
const LENGTH = 120;

/** Members of a value that say what it is, the best first. */
const TEXTS = ['text', 'display', 'title', 'name', 'reference', 'code', 'url', 'contentType', 'versionId'];

/** Members that hold what says it. */
const WITHIN = ['concept', 'coding', 'reference', 'identifier'];

/**
 * A FHIR value as a short text for people: what it is called, else its code, amount, period or address. It goes by the members that
 * the value has, which are the same in all datatypes that share them. Empty: there is nothing short to say.
 */
export function displayOf(value: JsonValue | undefined): string {
  return shorten(textOf(value));
}

/** The name of a resource for people; undefined: it has none. */
export function nameOf(resource: JsonObject): string | undefined {
  for (const name of ['title', 'name', 'code', 'description']) {
    const text = displayOf(Array.isArray(resource[name]) ? resource[name][0] : resource[name]);
    if (text !== '') return text;
  }
  return undefined;
}

function textOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || value instanceof Decimal) return String(value);
  if (Array.isArray(value)) return textOfList(value);
  return textOfObject(value);
}

function textOfList(values: readonly JsonValue[]): string {
  const texts = values
    .slice(0, SHOWN)
    .map(textOf)
    .filter((text) => text !== '');
  const more = values.length - SHOWN;
  return more > 0 ? `${texts.join(', ')} and ${more} more` : texts.join(', ');
}

function textOfObject(value: JsonObject): string {
  if (isText(value['text'])) return value['text'];
  const { family, given, value: amount, start, end, line, city } = value;
  if (family !== undefined || given !== undefined) return join([textsIn(given), family]);
  if (amount !== undefined)
    return join([value['comparator'], amount, value['unit'] ?? value['code'] ?? value['currency']]);
  if (start !== undefined || end !== undefined) return `${textOf(start)} – ${textOf(end)}`;
  if (line !== undefined || city !== undefined)
    return join([textsIn(line), value['postalCode'], city, value['country']]);
  for (const name of TEXTS) if (isText(value[name])) return value[name];
  for (const name of WITHIN) {
    const text = textOf(value[name]);
    if (text !== '') return text;
  }
  return '';
}

function textsIn(value: JsonValue | undefined): string {
  return Array.isArray(value) ? value.filter(isText).join(' ') : textOf(value);
}

function join(parts: readonly (JsonValue | undefined)[]): string {
  return parts
    .map(textOf)
    .filter((text) => text !== '')
    .join(' ');
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value !== '';
}

function shorten(text: string): string {
  return text.length > LENGTH ? `${text.slice(0, LENGTH)}…` : text;
}

/** The reference of a value, if it is one; of a list the first. */
export function referenceIn(value: JsonValue | undefined): string | undefined {
  const first = Array.isArray(value) ? value[0] : value;
  if (!isObject(first)) return undefined;
  if (isText(first['reference'])) return first['reference'];
  return isObject(first['reference']) ? referenceIn(first['reference']) : undefined;
}
