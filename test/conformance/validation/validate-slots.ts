import type { ElementRow, Tables, TypeRow } from '../../../runtime/contract/index.js';

/** An object of JSON. */
export type Json = Record<string, unknown>;

/** A property of an object somewhere in a resource that is valid. */
export interface Slot {
  readonly object: Json;
  /** Type of the object. */
  readonly holder: TypeRow;
  /** All elements of that type. */
  readonly elements: readonly ElementRow[];
  readonly element: ElementRow;
  readonly key: string;
  /** Type of the value. */
  readonly type: string;
  readonly isPrimitive: boolean;
  /** Where the property is. */
  readonly path: readonly (string | number)[];
}

/** Makes the function that lists every element of a valid resource with what the tables know of it. */
export function createFindSlots(tables: Tables): (resource: Json) => Slot[] {
  const types = new Map(tables.types.map((row) => [row.name, row]));
  const primitives = new Set(tables.primitives.map(({ name }) => name));
  const elementsOf = (row: TypeRow): readonly ElementRow[] => [
    ...(row.base === undefined ? [] : elementsOf(types.get(row.base)!)),
    ...row.elements,
  ];
  const walk = (object: Json, name: string, path: readonly (string | number)[], slots: Slot[]): Slot[] => {
    const holder = types.get(name)!;
    const elements = elementsOf(holder);
    for (const element of elements) {
      for (const type of element.types) {
        const key = element.choice ? choiceKey(element.name, type) : element.name;
        if (!Object.hasOwn(object, key)) continue;
        const at = [...path, key];
        const isPrimitive = primitives.has(type);
        slots.push({ object, holder, elements, element, key, type, isPrimitive, path: at });
        if (isPrimitive) continue;
        for (const [i, item] of [object[key]].flat().entries()) {
          const child = item as Json;
          const childType = types.get(type)!.kind === 'resource' ? String(child['resourceType']) : type;
          walk(child, childType, element.max === '*' ? [...at, i] : at, slots);
        }
      }
    }
    return slots;
  };
  return (resource) => walk(resource, String(resource['resourceType']), [], []);
}

/** Name in JSON of a choice element with this type. */
export function choiceKey(stem: string, type: string): string {
  return stem + type.charAt(0).toUpperCase() + type.slice(1);
}
