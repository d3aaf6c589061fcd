import type { ElementRow, Tables } from '../../contract/index.js';
import type { JsonObject, JsonValue } from '../../fhir/resource.js';

/** Tables that templates are made from. */
export type TemplateTables = Pick<Tables, 'types' | 'codes'>;

/** How deep required elements of required elements go. */
const DEEPEST = 4;

/** Values of primitives, which a person replaces; others are texts. */
const VALUES: Readonly<Record<string, (now: Date) => JsonValue>> = {
  boolean: () => false,
  integer: () => 0,
  unsignedInt: () => 0,
  positiveInt: () => 1,
  decimal: () => 0,
  instant: (now) => now.toISOString(),
  dateTime: (now) => now.toISOString(),
  date: (now) => now.toISOString().slice(0, 10),
  time: () => '12:00:00',
  id: () => 'fill-in',
  uri: () => 'urn:fill:in',
  url: () => 'urn:fill:in',
  canonical: () => 'urn:fill:in',
};

/** Elements that all datatypes have. */
const IN_ALL: ReadonlySet<string> = new Set(['id', 'extension', 'modifierExtension']);

/** A text where the definition requires one. */
const FILL_IN = 'fill in';

/** A resource of a type with its required elements. A required choice element has its first type, a code the first of its binding. */
export function templateOf(type: string, tables: TemplateTables, now = new Date()): JsonObject {
  const rows = new Map(tables.types.map((row) => [row.name, row]));
  const codes = new Map(tables.codes.map((table) => [table.url, Object.values(table.codes).flat()[0]]));

  /** Elements of a type with those of its bases. */
  function elementsOf(name: string): readonly ElementRow[] {
    const row = rows.get(name);
    if (row === undefined) return [];
    return [...(row.base === undefined ? [] : elementsOf(row.base)), ...row.elements];
  }

  function valueOf({ types: [first = ''], binding, targets }: ElementRow, depth: number): JsonValue {
    const target = targets?.[first]?.[0];
    if (first === 'Reference') return { reference: `${target ?? 'Patient'}/${FILL_IN.replace(' ', '-')}` };
    if (first === 'CodeableConcept') return { text: FILL_IN };
    if (first === 'CodeableReference') return { concept: { text: FILL_IN } };
    if (rows.has(first)) return depth === DEEPEST ? {} : contentOf(first, depth + 1);
    const code = binding === undefined ? undefined : codes.get(binding.valueSet);
    return code ?? VALUES[first]?.(now) ?? FILL_IN;
  }

  function contentOf(name: string, depth: number): JsonObject {
    const elements = elementsOf(name);
    const needed = elements.filter(({ min = 0 }) => min > 0);
    // An object is never empty: where nothing is required, it has its first element.
    const first = elements.filter((each) => !IN_ALL.has(each.name)).slice(0, depth === 1 ? 0 : 1);
    const required = needed.length === 0 ? first : needed;
    return Object.fromEntries(
      required.map((element): [string, JsonValue] => {
        const {
          name: stem,
          types: [first = ''],
          choice,
          max,
        } = element;
        const key = choice === true ? stem + first.charAt(0).toUpperCase() + first.slice(1) : stem;
        const value = valueOf(element, depth);
        return [key, max === '*' ? [value] : value];
      }),
    );
  }

  return { resourceType: type, ...contentOf(type, 1) };
}
