import type { ShippedResources } from '../../core/shipped/shipped-resources.js';
import { isObject, objectsOf, type JsonObject } from '../../fhir/resource.js';
import { readJson } from '../../format/read-json.js';

/** Longest text about a parameter or a code, in characters. */
const LONGEST = 300;

type Shipped = Pick<ShippedResources, 'byUrl'>;

/** What was looked up: pieces of the definitions have to be unpacked for it. */
interface Known {
  readonly parameters: Map<string, string>;
  readonly codes: Map<string, ReadonlyMap<string, string>>;
}
const known = new WeakMap<Shipped, Known>();

function knownOf(shipped: Shipped): Known {
  const found = known.get(shipped) ?? { parameters: new Map(), codes: new Map() };
  known.set(shipped, found);
  return found;
}

/** The description of a search parameter of the specification for one type; empty: no definition says it. */
export function parameterText(type: string, url: string, shipped: Shipped): string {
  const { parameters } = knownOf(shipped);
  const key = `${type} ${url}`;
  let text = parameters.get(key);
  if (text === undefined) parameters.set(key, (text = textIn(definition('SearchParameter', url, shipped), type)));
  return text;
}

/** A parameter of several types has a line for each: `* [Patient](patient.html): Text`. */
function textIn({ description = '' }: JsonObject, type: string): string {
  const lines = String(description).split(/\r?\n/);
  const own = lines.find((line) => line.startsWith(`* [${type}](`))?.replace(/^\* \[[^\]]*\]\([^)]*\): /, '');
  if (own === undefined && lines.some((line) => line.startsWith('* ['))) return '';
  return shortened(own ?? lines.join(' '));
}

/** The meanings of a code system's codes, by code. */
export function codeTexts(system: string, shipped: Shipped): ReadonlyMap<string, string> {
  const { codes } = knownOf(shipped);
  let texts = codes.get(system);
  if (texts === undefined) codes.set(system, (texts = new Map(textsOf(definition('CodeSystem', system, shipped)))));
  return texts;
}

function* textsOf({ concept }: JsonObject): Iterable<readonly [string, string]> {
  for (const each of objectsOf(concept)) {
    yield [String(each['code']), shortened(String(each['definition'] ?? each['display'] ?? ''))];
    yield* textsOf(each);
  }
}

function definition(type: string, url: string, shipped: Shipped): JsonObject {
  const { json } = shipped.byUrl(type, url, '') ?? {};
  const found = json === undefined ? undefined : readJson(json);
  return isObject(found) ? found : {};
}

/** Without the addresses of links. */
function shortened(text: string): string {
  const plain = text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').trim();
  return plain.length > LONGEST ? `${plain.slice(0, LONGEST - 1)}…` : plain;
}
