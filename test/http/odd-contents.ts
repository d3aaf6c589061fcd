import type { JsonObject, JsonValue, Resource } from '../../runtime/fhir/resource.js';
import { isObject } from '../../runtime/fhir/resource.js';
import type { Random } from '../contract/random.js';

/** Values of the wrong kind, to put in the place of others. */
const WRONG: readonly JsonValue[] = [null, true, 5, -0.5, '', ' ', 'x', 'Patient/a', [], {}, [null], [[]], [5], ['x'], [{}], { x: 1 }, { resourceType: 'Nope' }, [{ resourceType: 'Patient' }], { reference: 5 }, { coding: 'x' }]; // prettier-ignore

/** Properties that no type has, or only others. */
const UNKNOWN: readonly (readonly [string, JsonValue])[] = [
  ['olderElement', 'x'],
  ['olderBackbone', [{ a: { b: [1] } }]],
  ['_nothing', { id: 'x' }],
  ['_id', { extension: [] }],
  ['valueString', 'x'],
  ['valueNope', { a: 1 }],
  ['contained', [{ resourceType: 'Nope', id: 'x' }, { id: 'y' }, null]],
  ['extension', { url: 'x' }],
  ['meta', { tag: 'x', security: {}, profile: 5 }],
  ['text', { div: 5, status: [] }],
  ['constructor', 'x'],
];

/**
 * A resource as it may be stored by an older version of the definitions, or without validation: some places have a property that the
 * type does not know, a value of another type, an empty list or nothing.
 */
export function spoil(content: Resource, random: Random): Resource {
  const { resourceType, id, ...rest } = structuredClone(content) as JsonObject;
  const object = rest as JsonObject;
  for (let left = 1 + random.below(3); left > 0; left--) {
    const places = placesIn(object);
    const isUnknown = random.chance(0.35) || places.length === 0;
    if (isUnknown) {
      const holders = [object, ...places.map(([holder, key]) => holder[key as never] as JsonValue).filter(isObject)];
      const [name, value] = random.pick(UNKNOWN);
      random.pick(holders)[name] = structuredClone(value);
    } else {
      const [holder, key] = random.pick(places);
      holder[key as never] = structuredClone(random.pick(WRONG)) as never;
    }
  }
  return { resourceType, id, ...object } as Resource;
}

type Place = readonly [holder: JsonObject | JsonValue[], key: string | number];

function placesIn(value: JsonValue, found: Place[] = []): Place[] {
  if (Array.isArray(value)) value.forEach((each, i) => (found.push([value, i]), placesIn(each, found)));
  else if (isObject(value)) {
    for (const [name, each] of Object.entries(value)) {
      found.push([value, name]);
      placesIn(each, found);
    }
  }
  return found;
}
