import { FhirError } from '../../fhir/errors.js';
import { markSubsetted } from '../../format/summary-tag.js';
import {
  isObject,
  type JsonObject,
  type JsonValue,
  listOf,
  objectsOf,
  type Resource,
  textsOf,
} from '../../fhir/resource.js';

/** A capability that one statement has and another lacks. */
export interface Missing {
  /** Where in the statement that has it: `CapabilityStatement.rest[0].resource[3].interaction[1]`. */
  readonly expression: string;
  readonly text: string;
}

/** The lists of a type's capabilities, each with the member that names an item. */
const LISTS = [
  ['interaction', 'code', 'interaction'],
  ['searchParam', 'name', 'search parameter'],
  ['operation', 'name', 'operation'],
  ['searchInclude', undefined, '_include'],
  ['searchRevInclude', undefined, '_revinclude'],
] as const;

/** What a type supports or not, or how far: the values that fulfil each that a client may want. */
const FLAGS: Readonly<Record<string, (wanted: JsonValue, offered: JsonValue | undefined) => boolean>> = {
  ...Object.fromEntries(
    ['updateCreate', 'conditionalCreate', 'conditionalUpdate', 'conditionalPatch'].map((name) => [
      name,
      (wanted: JsonValue, offered: JsonValue | undefined) => wanted !== true || offered === true,
    ]),
  ),
  conditionalRead: (wanted, offered) => isAtLeast(wanted, offered, 'full-support'),
  conditionalDelete: (wanted, offered) => isAtLeast(wanted, offered, 'multiple'),
};

function isAtLeast(wanted: JsonValue, offered: JsonValue | undefined, all: string): boolean {
  return wanted === 'not-supported' || offered === wanted || offered === all;
}

/** The statement with the given resource types only, tagged as a part. */
export function subsetOf(statement: Resource, types: ReadonlySet<string>): Resource {
  const rest = objectsOf(statement['rest']).map((each) => ({
    ...each,
    resource: objectsOf(each['resource']).filter(({ type }) => types.has(String(type))),
  }));
  return markSubsetted({ ...statement, rest: rest.map(withoutEmpty) });
}

/**
 * Returns the claims of `wanted` that `offered` does not make: types and how far they are supported, interactions, search
 * parameters, operations, includes. https://hl7.org/fhir/R5/capabilitystatement-operation-implements.html
 */
export function missingFrom(offered: Resource, wanted: Resource): readonly Missing[] {
  const found: Missing[] = [];
  const offers = objectsOf(offered['rest']);
  const ofRest = indexLists(offers);
  const types = new Map(offers.flatMap((each) => objectsOf(each['resource'])).map((each) => [each['type'], each]));
  const ofTypes = new Map<JsonObject, OfferedLists>();
  objectsOf(wanted['rest']).forEach((rest, i) => {
    const at = `${ROOT}.rest[${i}]`;
    compareLists(ofRest, rest, at, '', found);
    objectsOf(rest['resource']).forEach((resource, n) => {
      const own = types.get(resource['type'] ?? '');
      const place = `${at}.resource[${n}]`;
      const where = ` on ${String(resource['type'])}`;
      if (own === undefined) {
        found.push(missing(place, `the resource type ${String(resource['type'])}`));
        return;
      }
      for (const [name, fulfils] of Object.entries(FLAGS)) {
        const value = resource[name];
        if (value === undefined || fulfils(value, own[name])) continue;
        found.push(missing(`${place}.${name}`, `${name} ${String(value)}${where}`));
      }
      const offeredLists = ofTypes.get(own) ?? indexLists([own]);
      ofTypes.set(own, offeredLists);
      compareLists(offeredLists, resource, place, where, found);
    });
  });
  return found;
}

/** Items of a statement that can be compared: those of a server for all types are about 10,000. */
const MOST_ITEMS = 30_000;

/** @throws FhirError `body-too-large` for a statement of very many items */
export function checkSizeOf(statement: Resource): void {
  let count = listOf(statement['format']).length;
  for (const rest of objectsOf(statement['rest'])) {
    count++;
    for (const each of [rest, ...objectsOf(rest['resource'])]) {
      count++;
      for (const [name] of LISTS) count += listOf(each[name]).length;
    }
  }
  if (count <= MOST_ITEMS) return;
  throw new FhirError(
    'body-too-large',
    `A statement that is compared may have ${MOST_ITEMS} formats, types, interactions, parameters, operations and includes, not ${count}`,
  );
}

/** The formats that `wanted` has and `offered` has not. */
export function formatsMissing(offered: Resource, wanted: Resource): readonly Missing[] {
  const formats = new Set(textsOf(offered['format']));
  return textsOf(wanted['format']).flatMap((format, i) =>
    formats.has(format) ? [] : [missing(`${ROOT}.format[${i}]`, `the format ${format}`)],
  );
}

const ROOT = 'CapabilityStatement';

/** Returns the intersection of two statements: the first, with the types, lists and formats that the second has too. */
export function intersectionOf(left: Resource, right: Resource): Resource {
  return merge(left, right, (own, other) => {
    const known = new Set(other.map(keyOf));
    return own.filter((each) => known.has(keyOf(each)));
  });
}

/** Returns the union of two statements: all that either of them has. */
export function unionOf(left: Resource, right: Resource): Resource {
  return merge(left, right, (own, other) => {
    const known = new Set(own.map(keyOf));
    return [...own, ...other.filter((each) => !known.has(keyOf(each)))];
  });
}

type Combine = (own: readonly JsonValue[], other: readonly JsonValue[]) => JsonValue[];

function merge(left: Resource, right: Resource, combine: Combine): Resource {
  const [one, other] = [objectsOf(left['rest'])[0] ?? {}, objectsOf(right['rest'])[0] ?? {}];
  const [inOne, inOther] = [firstOfType(one), firstOfType(other)];
  const types = combine(objectsOf(one['resource']), objectsOf(other['resource'])).map((each) => {
    const { type } = each as JsonObject;
    return mergeLists(each as JsonObject, inOne.get(type) ?? {}, inOther.get(type) ?? {}, combine);
  });
  const rest = withoutEmpty({ ...mergeLists(one, one, other, combine), resource: types });
  const format = combine(listOf(left['format']), listOf(right['format']));
  return { ...left, format, rest: [rest] };
}

/** The resources of a statement by type, of equal ones the first. */
function firstOfType(rest: JsonObject): ReadonlyMap<JsonValue | undefined, JsonObject> {
  return new Map(
    objectsOf(rest['resource'])
      .map((each) => [each['type'], each] as const)
      .reverse(),
  );
}

function mergeLists(base: JsonObject, one: JsonObject, other: JsonObject, combine: Combine): JsonObject {
  const lists = LISTS.map(([name]) => [name, combine(listOf(one[name]), listOf(other[name]))] as const);
  const kept = Object.entries(base).filter(([name]) => !LISTS.some(([list]) => list === name));
  return Object.fromEntries([...kept, ...lists.filter(([, items]) => items.length > 0)]);
}

/** For each list the definitions that its items name, by what they are known by. Undefined: an item names none. */
type OfferedLists = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string | undefined>>>;

function indexLists(offers: readonly JsonObject[]): OfferedLists {
  return new Map(
    LISTS.map(([name]) => {
      const items = new Map<string, Set<string | undefined>>();
      for (const item of offers.flatMap((each) => listOf(each[name]))) {
        const definitions = items.get(keyOf(item)) ?? new Set();
        items.set(keyOf(item), definitions.add(definitionOf(item)));
      }
      return [name, items];
    }),
  );
}

function compareLists(offers: OfferedLists, wanted: JsonObject, place: string, where: string, found: Missing[]): void {
  for (const [name, , word] of LISTS) {
    listOf(wanted[name]).forEach((item, i) => {
      const definition = definitionOf(item);
      if (isAmong(offers.get(name)?.get(keyOf(item)), definition)) return;
      const by = definition === undefined ? '' : ` (${definition})`;
      found.push(missing(`${place}.${name}[${i}]`, `the ${word} ${keyOf(item)}${by}${where}`));
    });
  }
}

/** Whether what is wanted is offered, of items of its name: by its definition where both name one. */
function isAmong(offered: ReadonlySet<string | undefined> | undefined, wanted: string | undefined): boolean {
  if (offered === undefined) return false;
  return wanted === undefined || offered.has(undefined) || offered.has(wanted);
}

/** The canonical of the definition of a search parameter or an operation, without its version. */
function definitionOf(item: JsonValue): string | undefined {
  const definition = isObject(item) ? item['definition'] : undefined;
  return typeof definition === 'string' ? definition.split('|', 1)[0] : undefined;
}

/** What an item of a list is known by: a code, a name, a type, or its own text. */
function keyOf(item: JsonValue): string {
  if (!isObject(item)) return String(item);
  return String(item['code'] ?? item['name'] ?? item['type'] ?? '');
}

function missing(expression: string, what: string): Missing {
  return { expression, text: `The server does not support ${what}` };
}

function withoutEmpty(rest: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(rest).filter(([, value]) => !Array.isArray(value) || value.length > 0));
}
