import { rowsByName } from '../../contract/type-rows.js';
import type { Tables } from '../../contract/tables.js';
import type { ElementRow, TypeRow } from '../../contract/types.js';
import { indexRows, type ElementForm, type TypeIndex } from '../../path/expression/type-index.js';

/** An element, as a patch has to know it. */
export interface PatchElement {
  /** Name in FHIRPath; that of a choice has no type in it. */
  readonly name: string;
  /** Names of its types; more than one only where it is a choice. */
  readonly types: readonly string[];
  /** Whether its JSON name has the type in it. */
  readonly choice: boolean;
  /** Whether it repeats. */
  readonly list: boolean;
  /** Whether a primitive here may have an id and extensions, in JSON under the name with a `_`. */
  readonly twins: boolean;
}

/** A type: a resource, a datatype, or an element with children of its own. */
export interface PatchType {
  readonly name: string;
  readonly kind: TypeRow['kind'];
  /** By name, in the order of the definition. */
  readonly elements: ReadonlyMap<string, PatchElement>;
  /** By JSON name (without `_`). */
  readonly keys: ReadonlyMap<string, { readonly element: PatchElement; readonly type: string }>;
  /** JSON names of each element. */
  readonly keysOf: (element: PatchElement) => readonly ElementForm[];
}

/** JSON form of a primitive. */
export type JsonForm = 'string' | 'number' | 'boolean';

/** FHIR types as patches know them. */
export interface PatchModel {
  /** A type by its name; undefined where there is none, or it is a primitive. */
  readonly type: (name: string) => PatchType | undefined;
  /** The same types, as expressions know them. */
  readonly types: TypeIndex;
  /** JSON form of a primitive; undefined where the name is not that of one. */
  readonly primitive: (name: string) => JsonForm | undefined;
  /** Whether a type is another one or a specialisation of it. */
  readonly isA: (name: string, other: string) => boolean;
  /** Whether resources are of it, or may be. */
  readonly isResource: (name: string) => boolean;
  /** Types that a parameter can hold as its value. https://hl7.org/fhir/R5/datatypes.html#open */
  readonly open: ReadonlySet<string>;
}

/** Makes the model from tables; types are compiled when they are first asked for. */
export function createPatchModel(tables: Pick<Tables, 'types' | 'primitives'>): PatchModel {
  const index = indexRows(tables.types, tables.primitives);
  const primitives = new Map(tables.primitives.map(({ name, json }) => [name, json]));
  const types = new Map<string, PatchType>();
  const rows = rowsByName(tables.types);
  return {
    type(name) {
      const row = rows.get(name);
      if (row === undefined) return undefined;
      const known = types.get(name) ?? compile(row, index);
      types.set(row.name, known);
      return known;
    },
    types: index,
    primitive: (name) => primitives.get(name),
    isA: (name, other) => index.ancestors(name).includes(other),
    isResource: (name) => index.kindOf(name) === 'resource',
    open: new Set(index.element('Parameters.parameter', 'value')?.types),
  };
}

function compile({ name: owner, kind }: TypeRow, index: TypeIndex<ElementRow>): PatchType {
  const elements = new Map<string, PatchElement>();
  for (const { name, types, choice, max, xml } of index.elements(owner)) {
    // Ids, the url of an extension and the text of a narrative are attributes, and XHTML: they have no children.
    const plain = xml !== undefined || (kind === 'resource' && name === 'id');
    const twins = !plain && types.some((type) => index.isPrimitive(type));
    elements.set(name, { name, types, choice: choice === true, list: max === '*', twins });
  }
  const keys = [...index.members(owner)].map(([key, { element, type }]) => {
    return [key, { element: elements.get(element.name)!, type }] as const;
  });
  return { name: owner, kind, elements, keys: new Map(keys), keysOf: ({ name }) => index.forms(owner, name) };
}
