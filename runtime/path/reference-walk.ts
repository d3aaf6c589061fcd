import { jsonName } from '../contract/json-name.js';
import { elementsOf, rowsByName } from '../contract/type-rows.js';
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
  take: (reference: ReferenceObject, path: ReferencePath) => void,
) => void;

/**
 * The elements that lead to a Reference, as FHIRPath names them (`value` for `valueReference`), each with the place in its list where it
 * has one. It changes once the call returns.
 */
export type ReferencePath = readonly (string | number)[];

const REFERENCE = 'Reference';

/** What the property `contained` holds: resources whose type each of them names. */
const CONTAINED = 'contained';

/** A property of a JSON object: the element that it is, and the type of its value. */
interface Property {
  readonly element: string;
  readonly type: string;
}

/** By name in JSON. */
type Properties = ReadonlyMap<string, Property>;

/** Makes the walk; what it needs of a type is worked out when its first value comes. */
export function createReferenceWalk({ types, primitives }: Pick<Tables, 'types' | 'primitives'>): ReferenceWalk {
  const rows = rowsByName(types);
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
    const properties = new Map<string, Property>();
    for (const element of elementsOf(name, rows)) addElement(properties, element);
    known.set(first.name, properties);
    return properties;
  }

  function addElement(properties: Map<string, Property>, row: ElementRow): void {
    const { name: element, types: allowed } = row;
    for (const type of allowed) {
      const property = jsonName(row, type);
      // Extensions of a primitive are beside it.
      if (isPrimitive.has(type)) properties.set(`_${property}`, { element, type: 'Element' });
      else if (type !== 'Resource' || element === CONTAINED) properties.set(property, { element, type });
    }
  }

  type Take = Parameters<ReferenceWalk>[1];

  function walk(value: unknown, type: string, take: Take, path: (string | number)[]): void {
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        path.push(i);
        walk(value[i], type, take, path);
        path.pop();
      }
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    const own = value as ReferenceObject;
    if (type === REFERENCE) take(own, path);
    const named = type === 'Resource' ? own['resourceType'] : type;
    if (typeof named !== 'string') return;
    const properties = propertiesOf(named);
    for (const name in own) {
      const inner = properties.get(name);
      if (inner === undefined) continue;
      path.push(inner.element);
      walk(own[name], inner.type, take, path);
      path.pop();
    }
  }

  return (resource, take) => walk(resource, 'Resource', take, []);
}
