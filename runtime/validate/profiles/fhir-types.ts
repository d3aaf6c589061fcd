import { jsonName } from '../../contract/json-name.js';
import { elementsOf, rowsByName } from '../../contract/type-rows.js';
import type { Tables } from '../../contract/tables.js';
import type { ElementRow, TypeRow } from '../../contract/types.js';

/** A JSON name of an element, and the type that the value has under it. */
export interface Form {
  readonly key: string;
  readonly type: string;
}

/** The types of the tables, as profiles ask for them. */
export interface FhirTypes {
  /** An element of a type by its name, that of a choice without type. Undefined: the type has none. */
  readonly element: (type: string, name: string) => ElementRow | undefined;
  /** The names that an element has in JSON. */
  readonly forms: (type: string, name: string) => readonly Form[];
  /** What is under a name in JSON: name of the element and type of the value. */
  readonly member: (type: string, key: string) => Member | undefined;
  /** The type and those that it specializes, the nearest first. */
  readonly ancestors: (type: string) => readonly string[];
  /** The same, and the interfaces that a resource implements. */
  readonly kinds: (type: string) => readonly string[];
  readonly isPrimitive: (type: string) => boolean;
  readonly kindOf: (type: string) => TypeRow['kind'] | undefined;
  /** Whether the base definitions are of this version of FHIR, or of one with this beginning: `5.0`. */
  readonly areOf: (version: string) => boolean;
  /** Whether this is a rule of the base definitions. */
  readonly isBaseRule: (key: string, expression: string) => boolean;
}

/** What is found under a name in JSON. */
export interface Member {
  readonly name: string;
  readonly type: string;
  readonly list: boolean;
}

/** The tables that it is made of. */
export type TypeTables = Pick<Tables, 'types' | 'primitives' | 'invariants'> & Partial<Pick<Tables, 'origin'>>;

/** Rules that are part of the structure, and no rows. */
const STRUCTURAL = new Set(['ele-1', 'ext-1']);
const NONE: readonly Form[] = [];
/** Interfaces of resources that others refer to by URL. The definitions do not give them as base. https://hl7.org/fhir/R5/canonicalresource.html */
const INTERFACES = ['CanonicalResource', 'MetadataResource'];

/** Indexes the tables; each type when it is asked for. */
export function createFhirTypes(tables: TypeTables): FhirTypes {
  const rows = rowsByName(tables.types);
  const primitives = new Map(tables.primitives.map((row) => [row.name, row]));
  const indexes = new Map<string, TypeIndex>();
  const lines = new Map<string, readonly string[]>();
  let rules: ReadonlySet<string> | undefined;

  function indexOf(type: string): TypeIndex {
    let index = indexes.get(type);
    if (index === undefined) {
      // Primitives have what every element has.
      index = createIndex(elementsOf(primitives.has(type) ? 'Element' : type, rows));
      if (rows.has(type) || primitives.has(type)) indexes.set(type, index);
    }
    return index;
  }

  function lineOf(type: string): readonly string[] {
    const primitive = primitives.get(type);
    if (primitive !== undefined) {
      const above = primitive.base === undefined ? ['PrimitiveType', ...lineOf('DataType')] : lineOf(primitive.base);
      return [type, ...above];
    }
    const base = rows.get(type)?.base;
    return base === undefined ? [type] : [type, ...lineOf(base)];
  }

  function ancestors(type: string): readonly string[] {
    let line = lines.get(type);
    if (line === undefined) {
      line = lineOf(type);
      if (line.length > 1) lines.set(type, line);
    }
    return line;
  }

  return {
    element: (type, name) => indexOf(type).elements.get(name),
    forms: (type, name) => indexOf(type).forms.get(name) ?? NONE,
    member: (type, key) => indexOf(type).members.get(key),
    ancestors,
    kinds(type) {
      const line = ancestors(type);
      if (rows.get(type)?.kind !== 'resource') return line;
      // Only resources of those interfaces have a `url` and are `experimental`.
      const { elements } = indexOf(type);
      return elements.has('url') && elements.has('experimental') ? [...line, ...INTERFACES] : line;
    },
    isPrimitive: (type) => primitives.has(type),
    kindOf: (type) => rows.get(type)?.kind,
    areOf: (version) => `${tables.origin?.fhirVersion ?? version}.`.startsWith(`${version}.`),
    isBaseRule(key, expression) {
      rules ??= new Set(tables.invariants.map((rule) => `${rule.id.split('@')[0] ?? ''} ${rule.expression}`));
      return STRUCTURAL.has(key) || rules.has(`${key} ${expression}`);
    },
  };
}

interface TypeIndex {
  readonly elements: ReadonlyMap<string, ElementRow>;
  readonly forms: ReadonlyMap<string, readonly Form[]>;
  readonly members: ReadonlyMap<string, Member>;
}

function createIndex(elements: readonly ElementRow[]): TypeIndex {
  const forms = new Map(elements.map((element) => [element.name, formsOf(element)]));
  const members = elements.flatMap((element) =>
    formsOf(element).map(({ key, type }): [string, Member] => [
      key,
      { name: element.name, type, list: element.max === '*' },
    ]),
  );
  return { elements: new Map(elements.map((element) => [element.name, element])), forms, members: new Map(members) };
}

function formsOf(element: ElementRow): readonly Form[] {
  return element.types.map((type) => ({ key: jsonName(element, type), type }));
}
