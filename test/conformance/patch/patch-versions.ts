import { tables } from '../../../generated/tables.js';
import { Decimal } from '../../../runtime/fhir/decimal.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../../../runtime/fhir/resource.js';
import { readJson } from '../../../runtime/format/read-json.js';
import { createPatchModel, type PatchType } from '../../../runtime/patch/fhirpath/fhirpath-model.js';
import type { Random } from '../../contract/random.js';
import { exampleFiles, readExample } from '../formats/examples.js';

export const model = createPatchModel(tables);

/** Examples above this many characters are left out of random tests: they tell nothing more and take their time. */
const MOST_TEXT = 20_000;

/** A resource type's examples. */
export function readVersions(): ReadonlyMap<string, readonly Resource[]> {
  const byType = new Map<string, Resource[]>();
  for (const file of exampleFiles()) {
    const { text } = readExample(file);
    if (text.length > MOST_TEXT) continue;
    const resource = readJson(text) as Resource;
    byType.set(resource.resourceType, [...(byType.get(resource.resourceType) ?? []), resource]);
  }
  return byType;
}

/** A resource's objects of one type, with those of all the examples to take parts from. */
interface Place {
  readonly object: JsonObject;
  readonly type: PatchType;
}

/** Objects of each type, to take parts from. */
export function collectParts(resources: Iterable<Resource>): ReadonlyMap<string, readonly JsonObject[]> {
  const parts = new Map<string, JsonObject[]>();
  for (const resource of resources) {
    for (const { object, type } of placesOf(resource, resource.resourceType)) {
      const known = parts.get(type.name) ?? [];
      if (known.length < 200) parts.set(type.name, [...known, object]);
    }
  }
  return parts;
}

function placesOf(object: JsonObject, typeName: string): Place[] {
  const type = model.type(typeName);
  if (type === undefined) return [];
  const below = Object.entries(object).flatMap(([key, value]) => {
    const declared = type.keys.get(key.replace('_', ''))?.type;
    if (declared === undefined) return [];
    const inner = key.startsWith('_') ? 'Element' : declared;
    return [value].flat().flatMap((each) => {
      if (!isObject(each)) return [];
      return placesOf(each, model.isResource(inner) ? String(each['resourceType']) : inner);
    });
  });
  return [{ object, type }, ...below];
}

/** Another version of a resource: some changes at places picked at random. Cardinality and bindings may break. */
export function mutate(
  resource: Resource,
  parts: ReadonlyMap<string, readonly JsonObject[]>,
  random: Random,
): Resource {
  const copy = structuredCopy(resource) as Resource;
  for (let left = 1 + random.below(6); left > 0; left--) {
    const place = random.pick(placesOf(copy, copy.resourceType));
    random.pick(CHANGES)(place, parts, random);
  }
  return copy;
}

function structuredCopy(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(structuredCopy);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, structuredCopy(each)]));
}

type Change = (place: Place, parts: ReadonlyMap<string, readonly JsonObject[]>, random: Random) => void;

/** An element that the object has, by its name in JSON. */
function pickKey({ object, type }: Place, random: Random, wanted: (value: JsonValue) => boolean): string | undefined {
  const keys = Object.keys(object).filter((key) => type.keys.has(key) && wanted(object[key]!));
  return keys.length === 0 ? undefined : random.pick(keys);
}

const EXTENSION: JsonObject = { url: 'http://example.org/extension', valueDecimal: new Decimal('1.50') };

const CHANGES: readonly Change[] = [
  function remove(place, _parts, random) {
    const key = pickKey(place, random, () => true);
    const rest = Object.keys(place.object).filter(
      (name) => name !== key && name !== `_${key}` && name !== 'resourceType',
    );
    if (key === undefined || (rest.length === 0 && !Object.hasOwn(place.object, 'resourceType'))) return;
    delete place.object[key];
    delete place.object[`_${key}`];
  },
  function borrow(place, parts, random) {
    const { object, type } = place;
    const donor = random.pick(parts.get(type.name) ?? []) as JsonObject | undefined;
    const key = donor === undefined ? undefined : pickKey({ object: donor, type }, random, () => true);
    if (donor === undefined || key === undefined) return;
    const { element } = type.keys.get(key)!;
    for (const { key: name } of type.keysOf(element)) {
      delete object[name];
      delete object[`_${name}`];
    }
    for (const name of [key, `_${key}`]) if (donor[name] !== undefined) object[name] = structuredCopy(donor[name]);
  },
  function reorder({ object, type }, _parts, random) {
    const key = pickKey({ object, type }, random, (value) => Array.isArray(value) && value.length > 1);
    if (key === undefined) return;
    const arrays = [key, `_${key}`].filter((name) => Array.isArray(object[name]));
    const order = (object[key] as JsonValue[]).map((_, i) => i);
    for (let swaps = 1 + random.below(3); swaps > 0; swaps--) {
      const [a, b] = [random.below(order.length), random.below(order.length)];
      [order[a], order[b]] = [order[b]!, order[a]!];
    }
    if (random.chance(0.3)) order.splice(random.below(order.length), 1);
    if (random.chance(0.3)) order.splice(random.below(order.length + 1), 0, random.pick(order));
    for (const name of arrays) object[name] = order.map((i) => structuredCopy((object[name] as JsonValue[])[i]!));
  },
  function rewrite(place, _parts, random) {
    const key = pickKey(place, random, (value) => !isObject(value) && !(Array.isArray(value) && value.some(isObject)));
    if (key === undefined) return;
    const value = place.object[key]!;
    if (!Array.isArray(value)) place.object[key] = otherPrimitive(value, random);
    else {
      const at = random.below(value.length);
      if (value[at] !== null) value[at] = otherPrimitive(value[at]!, random);
    }
  },
  function extendPrimitive({ object, type }, _parts, random) {
    const key = pickKey(
      { object, type },
      random,
      (value) => !isObject(value) && !(Array.isArray(value) && value.some(isObject)),
    );
    if (key === undefined || !type.keys.get(key)!.element.twins) return;
    const twin = random.chance(0.5) ? { id: 'twin' } : { extension: [structuredCopy(EXTENSION)] };
    const value = object[key]!;
    if (!Array.isArray(value)) {
      object[`_${key}`] = twin;
      if (random.chance(0.3) && 'extension' in twin) delete object[key];
      return;
    }
    const at = random.below(value.length);
    const twins = (object[`_${key}`] as JsonValue[] | undefined) ?? value.map(() => null);
    twins[at] = twin;
    if (random.chance(0.3) && 'extension' in twin) value[at] = null;
    object[`_${key}`] = twins;
  },
  function extend({ object, type }, _parts, random) {
    if (!type.elements.has('extension')) return;
    const list = (object['extension'] as JsonValue[] | undefined) ?? [];
    object['extension'] = list.toSpliced(random.below(list.length + 1), 0, structuredCopy(EXTENSION));
  },
  function identify({ object, type }, _parts, random) {
    if (type.elements.has('id') && type.kind !== 'resource') object['id'] = `id-${random.below(3)}`;
  },
];

function otherPrimitive(value: JsonValue, random: Random): JsonValue {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'string') return random.chance(0.2) ? `${value}ä\u{1F525}` : `${value}x`;
  return new Decimal(
    `${String(value)}${random.chance(0.5) ? '0' : '5'}`.includes('.') ? `${String(value)}0` : `${String(value)}.0`,
  );
}

/** The same FHIR in one spelling: arrays of primitives, which may be filled up with `null` or be left out. */
export function tidy(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(tidy);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, each]) => [name, tidy(each)] as const);
  return Object.fromEntries(
    entries.filter(([, each]) => !(Array.isArray(each) && each.every((item) => item === null))),
  );
}
