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
export interface IndexedType<Element extends IndexedElement = IndexedElement> extends Pick<
  TypeRow,
  'name' | 'kind' | 'abstract'
> {
  readonly elements: readonly Element[];
}

/** The elements of a type by their names, and by those that they have in JSON. */
interface Elements<Element extends IndexedElement> {
  readonly byName: ReadonlyMap<string, Element>;
  readonly forms: ReadonlyMap<string, readonly ElementForm[]>;
  readonly members: ReadonlyMap<string, ElementMember<Element>>;
}

const NO_FORMS: readonly ElementForm[] = [];

/** A JSON name of an element, and the type that its values have under it. */
export interface ElementForm {
  /** `valueQuantity` */
  readonly key: string;
  /** The name of what is beside primitive values: `_valueQuantity`. */
  readonly beside: string;
  readonly type: string;
}

/** Element, and its form, under a JSON name. */
export interface ElementMember<Element extends IndexedElement = IndexedElement> extends ElementForm {
  readonly element: Element;
}

/** Looks elements and types up by name: what expressions, profiles and patches know of FHIR. */
export interface TypeIndex<Element extends IndexedElement = IndexedElement> {
  readonly isType: (name: string) => boolean;
  readonly isPrimitive: (name: string) => boolean;
  /** Undefined: there is no such type, or it is a primitive. */
  readonly kindOf: (name: string) => TypeRow['kind'] | undefined;
  /** Whether it is a resource type that resources can be of. */
  readonly isConcreteResource: (name: string) => boolean;
  /** Resource types that resources can be of. */
  readonly resources: () => readonly string[];
  readonly isAbstract: (name: string) => boolean;
  /** The type of what is beside the values of a primitive: `id`, `extension`. Undefined: nothing of that name, or no primitive. */
  readonly beside: (type: string, name: string) => string | undefined;
  /** The type and those that it specialises. */
  readonly ancestors: (name: string) => readonly string[];
  readonly element: (type: string, name: string) => Element | undefined;
  /** All elements of a type, those of its bases first. */
  readonly elements: (type: string) => readonly Element[];
  /** The JSON names of an element. */
  readonly forms: (type: string, name: string) => readonly ElementForm[];
  /** What a type has, by JSON name. */
  readonly members: (type: string) => ReadonlyMap<string, ElementMember<Element>>;
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
export function indexTypes<Element extends IndexedElement>(
  structures: readonly IndexedType<Element>[],
  parents: ReadonlyMap<string, string>,
  primitives: readonly string[] = [],
): TypeIndex<Element> {
  const withoutBase = new Set(primitives);
  const byName = new Map(structures.map((structure) => [structure.name, structure]));
  const known = new Map<string, Elements<Element>>();
  const of = (type: string): Elements<Element> => {
    let elements = known.get(type);
    if (elements === undefined) {
      const structure = byName.get(type);
      elements = indexElements(structure?.elements ?? []);
      // By its own name: that of a resource may be a slice of its text, all of which would be kept with it.
      if (structure !== undefined) known.set(structure.name, elements);
    }
    return elements;
  };
  const ancestors = (name: string): readonly string[] => {
    const result = [name];
    for (let base = parents.get(name); base !== undefined; base = parents.get(base)) result.push(base);
    return result;
  };
  const isPrimitive = (name: string): boolean => !byName.has(name) && (parents.has(name) || withoutBase.has(name));
  return {
    isType: (name) => byName.has(name) || isPrimitive(name),
    isPrimitive,
    kindOf: (name) => byName.get(name)?.kind,
    isConcreteResource: (name) => isConcrete(byName.get(name)),
    resources: () => structures.filter(isConcrete).map(({ name }) => name),
    isAbstract: (name) => byName.get(name)?.abstract === true || name === 'PrimitiveType',
    beside: (type, name) => (isPrimitive(type) ? BESIDE.get(name) : undefined),
    ancestors,
    element: (type, name) => of(type).byName.get(name),
    elements: (type) => [...of(type).byName.values()],
    forms: (type, name) => of(type).forms.get(name) ?? NO_FORMS,
    members: (type) => of(type).members,
  };
}

function indexElements<Element extends IndexedElement>(elements: readonly Element[]): Elements<Element> {
  const forms = new Map<string, readonly ElementForm[]>();
  const members = new Map<string, ElementMember<Element>>();
  for (const element of elements) {
    const own = formsOf(element).map(([key, type]): ElementForm => ({ key, beside: `_${key}`, type }));
    forms.set(element.name, own);
    for (const form of own) members.set(form.key, { ...form, element });
  }
  return { byName: new Map(elements.map((element) => [element.name, element])), forms, members };
}

const indexes = new WeakMap<readonly TypeRow[], TypeIndex<ElementRow>>();

/** Indexes the tables of a server, whose types leave out what their bases have: once for the same rows. */
export function indexRows(types: readonly TypeRow[], primitives: readonly PrimitiveRow[]): TypeIndex<ElementRow> {
  let index = indexes.get(types);
  if (index === undefined) indexes.set(types, (index = indexAnew(types, primitives)));
  return index;
}

function indexAnew(types: readonly TypeRow[], primitives: readonly PrimitiveRow[]): TypeIndex<ElementRow> {
  const rows = rowsByName(types);
  const structures = types.map((row): IndexedType<ElementRow> => {
    let all: readonly ElementRow[] | undefined;
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

function isConcrete(type: Pick<IndexedType<IndexedElement>, 'kind' | 'abstract'> | undefined): boolean {
  return type?.kind === 'resource' && type.abstract !== true;
}

/** JSON name and type of each form that an element takes. */
export function formsOf(element: IndexedElement): (readonly [string, string])[] {
  return element.types.map((type) => [jsonName(element, type), type]);
}
