import type { ElementRow, Tables, TypeRow } from '../../runtime/contract/index.js';

/** Makes resources that have just the elements that they have to have, so that validation lets them pass. */
export function createMinimalResources(tables: Tables): (type: string) => Record<string, unknown> {
  const types = new Map(tables.types.map((row) => [row.name, row]));
  const codes = new Map(tables.codes.map(({ url, codes: bySystem }) => [url, Object.values(bySystem).flat()]));

  const fill = (name: string, element?: ElementRow): unknown => {
    const row = types.get(name);
    if (row === undefined) return codes.get(element?.binding?.valueSet ?? '')?.[0] ?? SAMPLES[name] ?? 'text';
    // Any resource that nothing is asked of.
    if (name === 'Resource') return { resourceType: 'Patient' };
    const required = elementsOf(row, types).filter(({ min }) => min !== undefined && min > 0);
    const value = Object.fromEntries(required.map((child) => [keyOf(child), valuesOf(child)]));
    // Nothing is required of it, but it may not be empty (ele-1).
    return required.length > 0 || row.kind === 'resource' ? value : { id: 'filled' };
  };
  const valuesOf = (child: ElementRow): unknown => {
    const values = Array.from({ length: child.min ?? 0 }, () => fill(child.types[0] ?? '', child));
    return child.max === '*' ? values : values[0];
  };
  return (type) => ({ resourceType: type, ...(fill(type) as object) });
}

function keyOf({ name, choice, types: [type = ''] }: ElementRow): string {
  return choice === true ? name + type.charAt(0).toUpperCase() + type.slice(1) : name;
}

function elementsOf(row: TypeRow, types: ReadonlyMap<string, TypeRow>): readonly ElementRow[] {
  const base = row.base === undefined ? undefined : types.get(row.base);
  return base === undefined ? row.elements : [...elementsOf(base, types), ...row.elements];
}

/** What is text in JSON and not named here takes any word. */
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
