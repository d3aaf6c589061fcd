import { jsonName } from '../../../contract/json-name.js';
import { elementsOf, rowsByName, type TypeRows } from '../../../contract/type-rows.js';
import type { Tables } from '../../../contract/tables.js';
import type { TypeRow } from '../../../contract/types.js';
import { indexRows, type TypeIndex } from '../../expression/type-index.js';

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

/** One JSON name of an element. */
export interface PatchKey {
  readonly key: string;
  readonly type: string;
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
  readonly keysOf: (element: PatchElement) => readonly PatchKey[];
}

/** JSON form of a primitive. */
export type JsonForm = 'string' | 'number' | 'boolean';

/** What patches know of FHIR types. */
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
  const rows = rowsByName(tables.types);
  const primitives = new Map(tables.primitives.map((row) => [row.name, row]));
  const types = new Map<string, PatchType>();
  const type = (name: string): PatchType | undefined => {
    const known = types.get(name);
    if (known !== undefined) return known;
    const row = rows.get(name);
    if (row === undefined) return undefined;
    const made = compile(row, rows, primitives);
    types.set(row.name, made);
    return made;
  };
  const parameter = rows.get('Parameters.parameter')?.elements.find(({ name }) => name === 'value');
  return {
    type,
    types: indexRows(tables.types, tables.primitives),
    primitive: (name) => primitives.get(name)?.json,
    isA: (name, other) => {
      for (let at: string | undefined = name; at !== undefined; at = (rows.get(at) ?? primitives.get(at))?.base) {
        if (at === other) return true;
      }
      return false;
    },
    isResource: (name) => rows.get(name)?.kind === 'resource',
    open: new Set(parameter?.types),
  };
}

function compile(row: TypeRow, rows: TypeRows, primitives: ReadonlyMap<string, unknown>): PatchType {
  const elements = new Map<string, PatchElement>();
  const keys = new Map<string, { element: PatchElement; type: string }>();
  const own = new Map<PatchElement, readonly PatchKey[]>();
  for (const { name, types, choice, max, xml } of elementsOf(row.name, rows)) {
    // Ids, the url of an extension and the text of a narrative are attributes, and XHTML: they have no children.
    const plain = xml !== undefined || (row.kind === 'resource' && name === 'id');
    const twins = !plain && types.some((type) => primitives.has(type));
    const element = { name, types, choice: choice === true, list: max === '*', twins };
    elements.set(name, element);
    const named = types.map((type) => ({ key: jsonName(element, type), type }));
    for (const { key, type } of named) keys.set(key, { element, type });
    own.set(element, named);
  }
  return { name: row.name, kind: row.kind, elements, keys, keysOf: (element) => own.get(element) ?? [] };
}
