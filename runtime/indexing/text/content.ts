import { jsonName } from '../../contract/json-name.js';
import { lineOf, rowsByName } from '../../contract/type-rows.js';
import type { ElementRow, TypeRow } from '../../contract/types.js';
import type { Tables } from '../../contract/tables.js';

/** Takes one text of a resource. Texts come in the order in which they are in the resource. */
export type TakeText = (text: string, isXhtml: boolean) => void;

/** Shows all that people read in a resource: strings, markdown and narratives, in extensions and contained resources too. */
export type ContentWalk = (resource: Readonly<Record<string, unknown>>, take: TakeText) => void;

/** What a property of an object holds: text, a narrative, any resource, or objects of a type. */
type Holds = 'text' | 'xhtml' | 'resource' | { readonly type: string };

/** Types of text for people. Codes, URIs, ids and dates are for parameters of their own. */
const TEXTS: Readonly<Record<string, Holds>> = { string: 'text', markdown: 'text', xhtml: 'xhtml' };

/** Strings that are not read as text: addresses, and series of numbers. Nothing in their definitions tells them from text. */
const UNREAD: ReadonlySet<string> = new Set(['Reference.reference', 'SampledData.offsets', 'SampledData.data']);

/** Makes the walk; what it needs of a type is worked out when its first value comes. */
export function createContentWalk({ types, primitives }: Pick<Tables, 'types' | 'primitives'>): ContentWalk {
  const rows = rowsByName(types);
  const isPrimitive = new Set(primitives.map(({ name }) => name));
  const known = new Map<string, ReadonlyMap<string, Holds>>();

  function propertiesOf(name: string): ReadonlyMap<string, Holds> {
    let properties = known.get(name);
    if (properties === undefined) {
      const found = new Map<string, Holds>();
      for (const row of lineOf(name, rows)) for (const element of row.elements) addElement(found, row, element);
      properties = found;
      // Only names of the tables are kept, never what a resource makes up.
      if (rows.has(name)) known.set(rows.get(name)!.name, properties);
    }
    return properties;
  }

  function addElement(found: Map<string, Holds>, owner: TypeRow, element: ElementRow): void {
    const { name, types, xml } = element;
    for (const type of types) {
      const property = jsonName(element, type);
      if (!isPrimitive.has(type)) {
        found.set(property, type === 'Resource' ? 'resource' : { type });
        continue;
      }
      const isText = xml !== 'attribute' && !UNREAD.has(`${owner.name}.${name}`);
      const text = TEXTS[type];
      if (text !== undefined && isText) found.set(property, text);
      // Extensions of a primitive are beside it.
      found.set(`_${property}`, { type: 'Element' });
    }
  }

  function walk(value: unknown, holds: Holds, take: TakeText): void {
    if (Array.isArray(value)) {
      for (const item of value) walk(item, holds, take);
    } else if (typeof value === 'string') {
      if (holds === 'text' || holds === 'xhtml') take(value, holds === 'xhtml');
    } else if (typeof value === 'object' && value !== null && holds !== 'text' && holds !== 'xhtml') {
      const own = value as Readonly<Record<string, unknown>>;
      const type = holds === 'resource' ? own['resourceType'] : holds.type;
      if (typeof type !== 'string') return;
      const properties = propertiesOf(type);
      for (const name in own) {
        const inner = properties.get(name);
        if (inner !== undefined) walk(own[name], inner, take);
      }
    }
  }

  return (resource, take) => walk(resource, 'resource', take);
}
