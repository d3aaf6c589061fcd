import { jsonName } from '../../contract/json-name.js';
import { elementsOf, rowsByName } from '../../contract/type-rows.js';
import type { BindingRow, ElementRow, PrimitiveRow, TypeRow } from '../../contract/index.js';

/** An element, as far as expressions go. */
export interface IndexedElement extends Pick<ElementRow, 'name' | 'types' | 'choice' | 'max'> {
  /** FHIRPath of its definition, where it is known. */
  readonly path?: string;
  readonly binding?: BindingRow;
  /** Marked as a reference that leads up a hierarchy. */
  readonly hierarchy?: true;
}

/** A type with all its elements, those of its base included. */
export interface IndexedType extends Pick<TypeRow, 'name' | 'kind' | 'abstract'> {
  readonly elements: readonly IndexedElement[];
}

/** Looks elements and types up by name: what the expression compiler knows of FHIR. */
export interface TypeIndex {
  readonly isType: (name: string) => boolean;
  /** Whether it is a resource type that resources can be of. */
  readonly isConcreteResource: (name: string) => boolean;
  readonly isAbstract: (name: string) => boolean;
  /** The type of what is beside the values of a primitive: `id`, `extension`. Undefined: nothing of that name, or no primitive. */
  readonly beside: (type: string, name: string) => string | undefined;
  /** The type and those that it specialises. */
  readonly ancestors: (name: string) => readonly string[];
  readonly element: (type: string, name: string) => IndexedElement | undefined;
  /** All elements of a type, those of its bases first. */
  readonly elements: (type: string) => readonly IndexedElement[];
}

/**
 * Types of FHIRPath itself, each with the type of FHIR that its values are taken for; a text may be of several. What a type of FHIR is
 * called as well means that one. https://hl7.org/fhirpath/N1/#models, https://hl7.org/fhir/R5/fhirpath.html#types
 */
export const SYSTEM_TYPES: ReadonlyMap<string, string | undefined> = new Map([
  ['Boolean', 'boolean'],
  ['String', undefined],
  ['Integer', 'integer'],
  ['Long', 'integer64'],
  ['Decimal', 'decimal'],
  ['Date', 'date'],
  ['DateTime', 'dateTime'],
  ['Time', 'time'],
  ['Quantity', 'Quantity'],
]);

const BESIDE: ReadonlyMap<string, string> = new Map([
  ['id', 'string'],
  ['extension', 'Extension'],
]);

/**
 * Indexes structures and primitives.
 *
 * @param parents the base of each type, also of primitives
 * @param primitives names of those too that have no base
 */
export function indexTypes(
  structures: readonly IndexedType[],
  parents: ReadonlyMap<string, string>,
  primitives: readonly string[] = [],
): TypeIndex {
  const withoutBase = new Set(primitives);
  const byName = new Map(structures.map((structure) => [structure.name, structure]));
  const elements = new Map<string, ReadonlyMap<string, IndexedElement>>();
  const byNameOf = (type: string): ReadonlyMap<string, IndexedElement> => {
    let known = elements.get(type);
    if (known === undefined) {
      known = new Map(byName.get(type)?.elements.map((element) => [element.name, element]));
      if (byName.has(type)) elements.set(type, known);
    }
    return known;
  };
  const ancestors = (name: string): readonly string[] => {
    const result = [name];
    for (let base = parents.get(name); base !== undefined; base = parents.get(base)) result.push(base);
    return result;
  };
  const isPrimitive = (name: string): boolean => !byName.has(name) && (parents.has(name) || withoutBase.has(name));
  return {
    isType: (name) => byName.has(name) || isPrimitive(name),
    isConcreteResource: (name) => byName.get(name)?.kind === 'resource' && byName.get(name)?.abstract !== true,
    isAbstract: (name) => byName.get(name)?.abstract === true || name === 'PrimitiveType',
    beside: (type, name) => (isPrimitive(type) ? BESIDE.get(name) : undefined),
    ancestors,
    element: (type, name) => byNameOf(type).get(name),
    elements: (type) => [...byNameOf(type).values()],
  };
}

/** The same from the tables of a server, whose types leave out what their bases have. */
export function indexRows(types: readonly TypeRow[], primitives: readonly PrimitiveRow[]): TypeIndex {
  const rows = rowsByName(types);
  const structures = types.map((row): IndexedType => {
    let all: readonly IndexedElement[] | undefined;
    return {
      ...{ name: row.name, kind: row.kind, ...(row.abstract && { abstract: row.abstract }) },
      get elements() {
        return (all ??= elementsOf(row.name, rows));
      },
    };
  });
  const based = [...types, ...primitives].flatMap(({ name, base }): [string, string][] =>
    base === undefined ? [] : [[name, base]],
  );
  return indexTypes(
    structures,
    new Map(based),
    primitives.map(({ name }) => name),
  );
}

/** JSON name and type of each form that an element takes. */
export function formsOf(element: IndexedElement): (readonly [string, string])[] {
  return element.types.map((type) => [jsonName(element, type), type]);
}
