import type { Tables } from '../../contract/tables.js';
import type { ElementRow, TypeRow } from '../../contract/types.js';
import { indexRows, type ElementForm, type ElementMember } from '../../path/expression/type-index.js';

/** The types of the tables, as profiles ask for them. */
export interface FhirTypes {
  /** An element of a type by its name, that of a choice without type. Undefined: the type has none. */
  readonly element: (type: string, name: string) => ElementRow | undefined;
  /** The names that an element has in JSON. */
  readonly forms: (type: string, name: string) => readonly ElementForm[];
  /** What is under a name in JSON. */
  readonly member: (type: string, key: string) => ElementMember<ElementRow> | undefined;
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

/** The tables that it is made of. */
export type TypeTables = Pick<Tables, 'types' | 'primitives' | 'invariants'> & Partial<Pick<Tables, 'origin'>>;

/** Rules that are part of the structure, and no rows. */
const STRUCTURAL = new Set(['ele-1', 'ext-1']);
/** Interfaces of resources that others refer to by URL. The definitions do not give them as base. https://hl7.org/fhir/R5/canonicalresource.html */
const INTERFACES = ['CanonicalResource', 'MetadataResource'];

/** Indexes the tables. Primitives have what every element has. */
export function createFhirTypes(tables: TypeTables): FhirTypes {
  const index = indexRows(tables.types, tables.primitives);
  const lines = new Map<string, readonly string[]>();
  let rules: ReadonlySet<string> | undefined;
  const holder = (type: string): string => (index.isPrimitive(type) ? 'Element' : type);

  function ancestors(type: string): readonly string[] {
    let line = lines.get(type);
    if (line === undefined) {
      line = index.ancestors(type);
      if (index.isPrimitive(type)) line = [...line, 'PrimitiveType', ...index.ancestors('DataType')];
      if (line.length > 1) lines.set(type, line);
    }
    return line;
  }

  return {
    element: (type, name) => index.element(holder(type), name),
    forms: (type, name) => index.forms(holder(type), name),
    member: (type, key) => index.members(holder(type)).get(key),
    ancestors,
    kinds(type) {
      const line = ancestors(type);
      if (index.kindOf(type) !== 'resource') return line;
      // Only resources of those interfaces have a `url` and are `experimental`.
      const isCanonical = ['url', 'experimental'].every((name) => index.element(type, name) !== undefined);
      return isCanonical ? [...line, ...INTERFACES] : line;
    },
    isPrimitive: index.isPrimitive,
    kindOf: index.kindOf,
    areOf: (version) => `${tables.origin?.fhirVersion ?? version}.`.startsWith(`${version}.`),
    isBaseRule(key, expression) {
      rules ??= new Set(tables.invariants.map((rule) => `${rule.id.split('@')[0] ?? ''} ${rule.expression}`));
      return STRUCTURAL.has(key) || rules.has(`${key} ${expression}`);
    },
  };
}
