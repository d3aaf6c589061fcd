import { FhirError } from '../fhir/errors.js';
import { append } from '../fhir/lists.js';
import { type JsonObject, type JsonValue, objectsOf, type Resource } from '../fhir/resource.js';
import { splitCanonical } from './resolver.js';
import { findMember, type ValueSetContext } from './value-set.js';
import { isVersion } from './version.js';

/** A code of a system. */
export interface CodeOf {
  readonly system?: string;
  readonly version?: string;
  readonly code: string;
  /** The system does not tell case apart. */
  readonly ignoresCase?: boolean;
}

/** A concept that a map leads to, or, reversed, one that leads there. */
export interface Translation {
  readonly relationship: string;
  readonly concept: JsonObject;
  /** URL of the map that says so: the one that was asked, or one that it refers to. */
  readonly originMap: string;
  readonly dependsOn: readonly JsonObject[];
  readonly products: readonly JsonObject[];
  readonly properties: readonly JsonObject[];
}

/** Options of a translation. */
export interface TranslationOptions {
  /** From the target to the source. */
  readonly isReverse: boolean;
  /** System of the result; absent: any. */
  readonly targetSystem?: string;
  /** What is known of other attributes, by their names: of several values of one the first. */
  readonly dependencies: ReadonlyMap<string, JsonValue>;
}

/** The relationship seen from the other side. */
const REVERSED: Readonly<Record<string, string>> = {
  'source-is-narrower-than-target': 'source-is-broader-than-target',
  'source-is-broader-than-target': 'source-is-narrower-than-target',
};

/** R4 named how codes relate from the side of the target. https://hl7.org/fhir/R4/valueset-concept-map-equivalence.html */
const EQUIVALENCES: Readonly<Record<string, string>> = {
  relatedto: 'related-to',
  equivalent: 'equivalent',
  equal: 'equivalent',
  wider: 'source-is-narrower-than-target',
  subsumes: 'source-is-broader-than-target',
  narrower: 'source-is-broader-than-target',
  specializes: 'source-is-narrower-than-target',
  inexact: 'related-to',
  unmatched: 'not-related-to',
  disjoint: 'not-related-to',
};

/**
 * Translates a code by a concept map. https://hl7.org/fhir/R5/conceptmap-operation-translate.html
 *
 * @param context finds other maps that a group refers to for what it does not map, and value sets that are mapped as a whole
 * @throws FhirError `concept-map-invalid` where maps refer to each other in a circle, `expansion-too-costly`
 */
export function translate(
  map: Resource,
  asked: CodeOf,
  options: TranslationOptions,
  context: ValueSetContext,
): Promise<readonly Translation[]> {
  return through(map, asked, options, context, []);
}

/** Whether something relates to the code at all. */
export function isMatch({ relationship }: Translation): boolean {
  return relationship !== 'not-related-to';
}

/** What it costs to look at a map, and at one of its groups, besides its elements. */
const [STEPS_OF_MAP, STEPS_OF_GROUP] = [20, 10];

/** @param above URLs of the maps that led here */
async function through(
  map: Resource,
  asked: CodeOf,
  options: TranslationOptions,
  context: ValueSetContext,
  above: readonly string[],
): Promise<readonly Translation[]> {
  const url = String(map['url'] ?? '');
  if (url !== '' && above.includes(url)) {
    const circle = [...above.slice(above.indexOf(url)), url].join(' → ');
    throw new FhirError('concept-map-invalid', `The concept map cannot be used: it refers to itself: ${circle}`);
  }
  const path = [...above, url];
  const { effort } = context;
  const uris = urisOf(map);
  effort?.spend(STEPS_OF_MAP + uris.size);
  const found: Translation[] = [];
  for (const group of objectsOf(map['group'])) {
    effort?.spend(STEPS_OF_GROUP);
    const [source, target] = [String(group['source'] ?? ''), String(group['target'] ?? '')];
    const { from, to } = options.isReverse ? { from: target, to: source } : { from: source, to: target };
    if (!isOfSystem(from, asked.system, asked.version) || !isOfSystem(to, options.targetSystem)) continue;
    const way = { options, context, path, uris };
    const turn = effort?.pace();
    if (turn !== undefined) await turn;
    append(found, options.isReverse ? await reverseOf(group, asked, source, way) : await forwards(group, asked, target, way)); // prettier-ignore
  }
  return found;
}

/** Whether a group is of a system. One that names no system, or no version, is of any. */
function isOfSystem(group: string, system: string | undefined, version?: string): boolean {
  const [own, ownVersion] = splitCanonical(group);
  if (own === '' || system === undefined) return true;
  const [url, asked = version] = splitCanonical(system);
  return own === url && (asked === undefined || ownVersion === undefined || isVersion(ownVersion, asked) || isVersion(asked, ownVersion)); // prettier-ignore
}

interface Way {
  readonly options: TranslationOptions;
  readonly context: ValueSetContext;
  readonly path: readonly string[];
  /** Of the properties and attributes of the map, by their codes. */
  readonly uris: ReadonlyMap<unknown, JsonValue>;
}

/** https://hl7.org/fhir/R5/conceptmap-definitions.html#ConceptMap.property, https://hl7.org/fhir/R5/conceptmap-definitions.html#ConceptMap.additionalAttribute */
function urisOf(map: Resource): ReadonlyMap<unknown, JsonValue> {
  const declared = [...objectsOf(map['property']), ...objectsOf(map['additionalAttribute'])];
  return new Map(declared.flatMap(({ code, uri }) => (uri === undefined ? [] : [[code, uri] as const])));
}

async function forwards(group: JsonObject, asked: CodeOf, target: string, way: Way): Promise<readonly Translation[]> {
  const { options, context, path } = way;
  const { effort } = context;
  const elements: JsonObject[] = [];
  for (const element of objectsOf(group['element'])) {
    const turn = effort?.pace();
    if (turn !== undefined) await turn;
    effort?.spend(1);
    const isPlain = typeof element['valueSet'] !== 'string';
    if (isPlain ? isSame(element['code'], asked) : await isMapped(element, asked, context)) elements.push(element);
  }
  if (elements.length > 0) {
    const found: Translation[] = [];
    for (const element of elements) {
      if (element['noMap'] === true) continue;
      for (const each of objectsOf(element['target'])) {
        const turn = effort?.pace();
        if (turn !== undefined) await turn;
        effort?.spend(1 + objectsOf(each['dependsOn']).length);
        if (isMet(each, options.dependencies, way.uris)) found.push(toTranslation(each, target, way));
      }
    }
    return found;
  }
  const { unmapped } = group as { unmapped?: JsonObject };
  if (unmapped === undefined) return [];
  const made = (concept: JsonObject): readonly Translation[] => [
    toTranslation({ relationship: 'related-to', ...unmapped, ...concept }, target, way),
  ];
  switch (unmapped['mode']) {
    case 'use-source-code':
    case 'provided':
      return made({ code: asked.code });
    case 'fixed':
      return made({});
    case 'other-map': {
      const canonical = unmapped['otherMap'] ?? unmapped['url'];
      const other = typeof canonical === 'string' ? await context.resolver.conceptMap(canonical) : undefined;
      if (other === undefined) throw new FhirError('terminology-not-found', `The server does not know the concept map ${JSON.stringify(canonical)}`); // prettier-ignore
      return through(other, asked, options, context, path);
    }
    default:
      return [];
  }
}

/** Whether the code of a map is the one that is asked for. */
function isSame(code: JsonValue | undefined, asked: CodeOf): boolean {
  if (code === asked.code) return true;
  return asked.ignoresCase === true && typeof code === 'string' && code.toLowerCase() === asked.code.toLowerCase();
}

/** Whether a code is in the value set that an element is about. */
async function isMapped(element: JsonObject, { system, code }: CodeOf, context: ValueSetContext): Promise<boolean> {
  if (system === undefined) return false;
  const valueSet = await context.resolver.valueSet(String(element['valueSet']));
  return valueSet !== undefined && (await findMember(valueSet, { system, code }, context)) !== undefined;
}

/** Whether what a target depends on is as the client says. Dependencies that the client does not give are returned with the result. */
function isMet(
  target: JsonObject,
  dependencies: ReadonlyMap<string, JsonValue>,
  uris: ReadonlyMap<unknown, JsonValue>,
): boolean {
  return objectsOf(target['dependsOn']).every((each) => {
    const names = [each['attribute'], each['property'], uris.get(each['attribute'])];
    const given = names.map((name) => dependencies.get(String(name))).find((value) => value !== undefined);
    if (given === undefined) return true;
    return plain(given) === plain(valueIn(each)?.[1] ?? '');
  });
}

function plain(value: JsonValue): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return String(value);
  return 'code' in value ? `${String(value['system'] ?? '')}|${String(value['code'])}` : JSON.stringify(value);
}

/** Name and value of a `value[x]`. */
export function valueIn(element: JsonObject): readonly [kind: string, value: JsonValue] | undefined {
  const found = Object.entries(element).find(([key]) => key.startsWith('value') && key !== 'valueSet');
  return found as readonly [string, JsonValue] | undefined;
}

async function reverseOf(group: JsonObject, asked: CodeOf, source: string, way: Way): Promise<readonly Translation[]> {
  const { effort } = way.context;
  const found: Translation[] = [];
  for (const element of objectsOf(group['element'])) {
    const turn = effort?.pace();
    if (turn !== undefined) await turn;
    const targets = objectsOf(element['target']);
    effort?.spend(1 + targets.length);
    for (const each of targets) {
      if (!isSame(each['code'], asked)) continue;
      const { code: own, display } = element;
      const { display: _display, ...rest } = each;
      const turned = { ...rest, code: own, ...(display !== undefined && { display }) } as JsonObject;
      const made = toTranslation(turned, source, way);
      found.push({ ...made, relationship: REVERSED[made.relationship] ?? made.relationship });
    }
  }
  return found;
}

function toTranslation(target: JsonObject, canonical: string, { path, uris }: Way): Translation {
  const { code, display, relationship, equivalence } = target;
  const [system, version] = splitCanonical(canonical);
  return {
    relationship: String(relationship ?? EQUIVALENCES[String(equivalence)] ?? 'related-to'),
    concept: {
      ...(system !== '' && code !== undefined && { system }),
      ...(version !== undefined && code !== undefined && { version }),
      ...(code !== undefined && { code }),
      ...(display !== undefined && { display }),
    } as JsonObject,
    originMap: path.at(-1) ?? '',
    dependsOn: objectsOf(target['dependsOn']).map((each) => withUri(each, 'attribute', uris)),
    products: objectsOf(target['product']).map((each) => withUri(each, 'attribute', uris)),
    properties: objectsOf(target['property']).map((each) => withUri(each, 'code', uris)),
  };
}

function withUri(each: JsonObject, name: string, uris: ReadonlyMap<unknown, JsonValue>): JsonObject {
  const uri = uris.get(each[name]);
  return uri === undefined ? each : { ...each, [name]: uri };
}
