import { jsonName } from '../contract/json-name.js';
import type { ElementRow } from '../contract/types.js';
import type { Tables } from '../contract/tables.js';

/** A JSON object of the type Reference, in the tree of a resource. */
export type ReferenceObject = Readonly<Record<string, unknown>>;

/**
 * Shows every Reference of a resource, in the order of the text: in extensions, in identifiers and in contained resources too.
 * Resources of other kinds within it (entries of a Bundle, parameters) are not entered: what they refer to is resolved against their
 * own URL. https://hl7.org/fhir/R5/bundle.html#references
 */
export type ReferenceWalk = (
  resource: Readonly<Record<string, unknown>>,
  take: (reference: ReferenceObject) => void,
) => void;

const REFERENCE = 'Reference';

/** What the property `contained` holds: resources whose type each of them names. */
const CONTAINED = 'contained';

type Properties = ReadonlyMap<string, string>;

/** Makes the walk; what it needs of a type is worked out when its first value comes. */
export function createReferenceWalk({ types, primitives }: Pick<Tables, 'types' | 'primitives'>): ReferenceWalk {
  const rows = new Map(types.map((row) => [row.name, row]));
  const isPrimitive = new Set(primitives.map(({ name }) => name));
  const known = new Map<string, Properties>();
  const none: Properties = new Map();

  /** Properties of a type that hold objects, with the type of these. */
  function propertiesOf(name: string): Properties {
    const found = known.get(name);
    if (found !== undefined) return found;
    const first = rows.get(name);
    // Only names of the tables are kept, never what a resource makes up.
    if (first === undefined) return none;
    const properties = new Map<string, string>();
    for (let row = rows.get(name); row; row = row.base === undefined ? undefined : rows.get(row.base)) {
      for (const element of row.elements) addElement(properties, element);
    }
    known.set(first.name, properties);
    return properties;
  }

  function addElement(properties: Map<string, string>, element: ElementRow): void {
    const { name, types: allowed } = element;
    for (const type of allowed) {
      const property = jsonName(element, type);
      // Extensions of a primitive are beside it.
      if (isPrimitive.has(type)) properties.set(`_${property}`, 'Element');
      else if (type !== 'Resource' || name === CONTAINED) properties.set(property, type);
    }
  }

  function walk(value: unknown, type: string, take: (reference: ReferenceObject) => void): void {
    if (Array.isArray(value)) {
      for (const item of value) walk(item, type, take);
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    const own = value as ReferenceObject;
    if (type === REFERENCE) take(own);
    const named = type === 'Resource' ? own['resourceType'] : type;
    if (typeof named !== 'string') return;
    const properties = propertiesOf(named);
    for (const name in own) {
      const inner = properties.get(name);
      if (inner !== undefined) walk(own[name], inner, take);
    }
  }

  return (resource, take) => walk(resource, 'Resource', take);
}
