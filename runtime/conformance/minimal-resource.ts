import { jsonName } from '../contract/json-name.js';
import type { Tables } from '../contract/tables.js';
import { elementsOf, rowsByName } from '../contract/type-rows.js';
import type { ElementRow } from '../contract/types.js';

type MutableJson = Record<string, unknown>;

/** Makes values that have just the elements that they have to have, so that validation lets them pass. */
export interface MinimalValues {
  resource(type: string): MutableJson;
  /** Returns one value of an element, of the first of its types. */
  valueOf(element: ElementRow): unknown;
  /** Returns some code of the value set that an element has to take its codes from; undefined: any will do. */
  codeOf(element: ElementRow): string | undefined;
  /** Returns the same with its system, where a table has it. */
  codingOf(element: ElementRow): { readonly system: string; readonly code: string } | undefined;
}

/** Returns the maker of minimal values for the types of some tables. */
export function createMinimalValues(tables: Pick<Tables, 'types' | 'codes'>): MinimalValues {
  const rows = rowsByName(tables.types);
  const codes = new Map(tables.codes.map(({ url, codes: bySystem }) => [url, bySystem]));

  let filled = 0;

  const codeOf = ({ binding }: Pick<ElementRow, 'binding'> = {}): string | undefined =>
    OPEN_CODES[binding?.valueSet ?? ''] ?? codingOf(binding)?.code;
  const codingOf = (binding: ElementRow['binding']): { system: string; code: string } | undefined =>
    Object.entries(codes.get(binding?.valueSet ?? '') ?? {}).flatMap(([system, [code]]) =>
      code === undefined ? [] : [{ system, code }],
    )[0];
  const fill = (name: string, element?: ElementRow): unknown => {
    const row = rows.get(name);
    if (row === undefined) return codeOf(element) ?? SAMPLES[name] ?? 'text';
    // Any resource that nothing is asked of.
    if (name === 'Resource') return { resourceType: 'Patient' };
    const coding = codingOf(element?.binding);
    if (name === 'CodeableConcept' && coding !== undefined) return { coding: [coding] };
    if (name === 'Coding' && coding !== undefined) return coding;
    if (name in SPARE) return structuredClone(SPARE[name]);
    const required = elementsOf(name, rows).filter(({ min }) => min !== undefined && min > 0);
    const value = Object.fromEntries(required.map((child) => [jsonName(child, child.types[0] ?? ''), valuesOf(child)]));
    // Nothing is required of it, but it may not be empty (ele-1).
    return required.length > 0 || row.kind === 'resource' ? value : { id: `filled${++filled}` };
  };
  const valuesOf = (child: ElementRow): unknown => {
    const values = Array.from({ length: child.min ?? 0 }, () => fill(child.types[0] ?? '', child));
    return child.max === '*' ? values : values[0];
  };
  return {
    resource: (type) => ({ resourceType: type, ...(fill(type) as object) }),
    valueOf: (element) => fill(element.types[0] ?? '', element),
    codeOf,
    codingOf: ({ binding }) => codingOf(binding),
  };
}

/** Values of types whose rules ask for one of several elements. */
const SPARE: Readonly<Record<string, unknown>> = {
  Reference: { display: 'text' },
  CodeableConcept: { text: 'text' },
  CodeableReference: { concept: { text: 'text' } },
};

/** A code of value sets whose codes no table lists. */
const OPEN_CODES: Readonly<Record<string, string>> = {
  'http://hl7.org/fhir/ValueSet/mimetypes': 'text/plain',
  'http://hl7.org/fhir/ValueSet/all-languages': 'en',
  'http://hl7.org/fhir/ValueSet/currencies': 'EUR',
  'http://hl7.org/fhir/ValueSet/ucum-units': 'kg',
};

/** Values of primitive types; others, which are text in JSON, take any word. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  boolean: true,
  integer: 1,
  positiveInt: 1,
  unsignedInt: 1,
  integer64: '1',
  decimal: 1.5,
  date: '2020-01-01',
  dateTime: '2020-01-01',
  instant: '2020-01-01T00:00:00Z',
  time: '10:00:00',
  base64Binary: 'AAAA',
};
