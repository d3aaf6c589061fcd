import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';

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

/** The statement with the given resource types only. */
export function subsetOf(statement: Resource, types: ReadonlySet<string>): Resource {
  const rest = objectsOf(statement['rest']).map((each) => ({
    ...each,
    resource: objectsOf(each['resource']).filter(({ type }) => types.has(String(type))),
  }));
  return { ...statement, rest: rest.map(withoutEmpty) };
}

/** What `wanted` claims and `offered` does not: types, interactions, search parameters, operations, includes, formats. */
export function missingFrom(offered: Resource, wanted: Resource): readonly Missing[] {
  const found: Missing[] = [];
  const root = 'CapabilityStatement';
  const formats = new Set(textsOf(offered['format']));
  textsOf(wanted['format']).forEach((format, i) => {
    if (!formats.has(format)) found.push(missing(`${root}.format[${i}]`, `the format ${format}`));
  });
  const offers = objectsOf(offered['rest']);
  objectsOf(wanted['rest']).forEach((rest, i) => {
    const at = `${root}.rest[${i}]`;
    compareLists(offers, [rest], () => at, '', found);
    const types = new Map(offers.flatMap((each) => objectsOf(each['resource'])).map((each) => [each['type'], each]));
    objectsOf(rest['resource']).forEach((resource, n) => {
      const own = types.get(resource['type'] ?? '');
      const place = `${at}.resource[${n}]`;
      if (own === undefined) found.push(missing(place, `the resource type ${String(resource['type'])}`));
      else compareLists([own], [resource], () => place, ` on ${String(resource['type'])}`, found);
    });
  });
  return found;
}

/** What both statements have: the first, with the types, lists and formats that the second has too. */
export function intersectionOf(left: Resource, right: Resource): Resource {
  return merge(left, right, (own, other) => own.filter((each) => other.some((known) => keyOf(known) === keyOf(each))));
}

/** What any of the two statements has. */
export function unionOf(left: Resource, right: Resource): Resource {
  return merge(left, right, (own, other) => [
    ...own,
    ...other.filter((each) => !own.some((known) => keyOf(known) === keyOf(each))),
  ]);
}

type Combine = (own: readonly JsonValue[], other: readonly JsonValue[]) => JsonValue[];

function merge(left: Resource, right: Resource, combine: Combine): Resource {
  const [one, other] = [objectsOf(left['rest'])[0] ?? {}, objectsOf(right['rest'])[0] ?? {}];
  const types = combine(objectsOf(one['resource']), objectsOf(other['resource'])).map((each) => {
    const same = (rest: JsonObject): JsonObject =>
      objectsOf(rest['resource']).find(({ type }) => isObject(each) && type === each['type']) ?? {};
    return mergeLists(each as JsonObject, same(one), same(other), combine);
  });
  const rest = withoutEmpty({ ...mergeLists(one, one, other, combine), resource: types });
  const format = combine(listOf(left['format']), listOf(right['format']));
  return { ...left, format, rest: [rest] };
}

function mergeLists(base: JsonObject, one: JsonObject, other: JsonObject, combine: Combine): JsonObject {
  const lists = LISTS.map(([name]) => [name, combine(listOf(one[name]), listOf(other[name]))] as const);
  const kept = Object.entries(base).filter(([name]) => !LISTS.some(([list]) => list === name));
  return Object.fromEntries([...kept, ...lists.filter(([, items]) => items.length > 0)]);
}

function compareLists(
  offers: readonly JsonObject[],
  wanted: readonly JsonObject[],
  placeOf: () => string,
  where: string,
  found: Missing[],
): void {
  for (const [name, , word] of LISTS) {
    const offered = new Set(offers.flatMap((each) => listOf(each[name])).map(keyOf));
    for (const each of wanted) {
      listOf(each[name]).forEach((item, i) => {
        if (!offered.has(keyOf(item))) {
          found.push(missing(`${placeOf()}.${name}[${i}]`, `the ${word} ${keyOf(item)}${where}`));
        }
      });
    }
  }
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

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function objectsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return listOf(value).filter(isObject);
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  return listOf(value).filter((each) => typeof each === 'string');
}
