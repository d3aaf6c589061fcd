import { append } from '../fhir/lists.js';
import { isObject, type JsonObject, type JsonValue } from '../fhir/resource.js';
import { writeJson } from '../format/write-json.js';

/** Longest value that is recorded, in characters: a GraphQL document or an HFQL statement is whole up to there. */
const LONGEST = 16_384;

/** Arguments that are recorded, and characters of texts in a value that is no text, at most; one of more values is only named. */
const MOST = 100;
const WITHIN = { characters: 200, values: 500 };

/**
 * Returns the content of an operation's body as name and value pairs, like parameters of a URL. Of Parameters these are the
 * values, of another JSON object its members. A text that is not FHIR is the value of `query`. Resources among the values are
 * named, not shown.
 *
 * @param content a body that was no JSON, if it was read as a text
 */
export function argumentsOf(
  body: JsonValue | undefined,
  content: { readonly text?: string } | undefined,
): [name: string, value: string][] {
  if (content?.text !== undefined) return [['query', content.text.slice(0, LONGEST)]];
  if (!isObject(body)) return [];
  const { resourceType, parameter } = body;
  if (resourceType === undefined) {
    return Object.entries(body)
      .slice(0, MOST)
      .flatMap(([name, value]) => textOf(name, value));
  }
  if (resourceType !== 'Parameters' || !Array.isArray(parameter)) return [];
  return parameter.slice(0, MOST).flatMap((each) => (isObject(each) ? argumentOf(each) : []));
}

function argumentOf({ name, resource, ...value }: JsonObject): [string, string][] {
  const named = typeof name === 'string' ? name : '';
  if (isObject(resource)) return [[named, nameOf(resource)]];
  return Object.values(value).flatMap((each) => textOf(named, each));
}

function textOf(name: string, value: JsonValue | undefined): [string, string][] {
  if (value === undefined || value === null) return [];
  const text = typeof value === 'string' ? value : shortOf(value);
  return [[name.slice(0, WITHIN.characters), text.slice(0, LONGEST)]];
}

/** A reference as what it refers to, another value as JSON, if it is small. */
function shortOf(value: JsonValue): string {
  if (isObject(value) && typeof value['reference'] === 'string') return value['reference'];
  return isSmall(value) ? writeJson(value) : '';
}

function isSmall(value: JsonValue): boolean {
  const left = [value];
  for (let count = 0; left.length > 0; count++) {
    if (count > WITHIN.values || left.length > WITHIN.values) return false;
    const each = left.pop();
    if (typeof each === 'string' && each.length > WITHIN.characters) return false;
    if (Array.isArray(each)) append(left, each.slice(0, WITHIN.values));
    else if (isObject(each)) {
      for (const name in each) {
        if (left.length > WITHIN.values) return false;
        left.push(each[name] ?? null);
      }
    }
  }
  return true;
}

function nameOf({ resourceType, id }: JsonObject): string {
  return [resourceType, id].filter((part) => typeof part === 'string').join('/').slice(0, WITHIN.characters); // prettier-ignore
}
