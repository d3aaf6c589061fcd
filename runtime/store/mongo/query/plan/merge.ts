import type { FieldTests, Kind, RowTest, Value } from '../compile/row-test.js';

/** The field of each kind that its index goes by; those of intervals go by their ends. */
export const KEY_FIELD: Readonly<Partial<Record<Kind, string>>> = {
  token: 'code',
  string: 'folded',
  reference: 'to',
  uri: 'value',
};

/** Tests of rows of one kind and parameter. */
export interface RowTests {
  readonly kind: Kind;
  readonly p: string;
  /** Of which some have to be fulfilled. Those that differ in the key alone are one. */
  readonly alternatives: readonly FieldTests[];
}

/** Tests by kind and parameter, alike ones merged: thousands of codes become one list. */
export function mergeTests(tests: readonly RowTest[]): RowTests[] {
  const groups = new Map<string, { kind: Kind; p: string; byRest: Map<string, Merged> }>();
  for (const { kind, p, fields } of tests) {
    const name = `${kind} ${p}`;
    const group = groups.get(name) ?? { kind, p, byRest: new Map<string, Merged>() };
    groups.set(name, group);
    addTo(group.byRest, KEY_FIELD[kind], fields);
  }
  return [...groups.values()].flatMap(({ kind, p, byRest }) => {
    const alternatives = [...byRest.values()].flatMap(({ key, values, fields }) => {
      if (key === undefined) return [fields];
      // Nothing is equal to one of none.
      return values.size === 0 ? [] : [{ [key]: { in: [...values] }, ...fields }];
    });
    return alternatives.length === 0 ? [] : [{ kind, p, alternatives }];
  });
}

interface Merged {
  /** The field that has to have one of `values`; absent: it is among `fields`, or not tested. */
  readonly key?: string;
  readonly values: Set<Value>;
  readonly fields: FieldTests;
}

function addTo(byRest: Map<string, Merged>, key: string | undefined, all: FieldTests): void {
  const test = key === undefined ? undefined : all[key];
  if (key === undefined || test === undefined || !('in' in test)) {
    byRest.set(print(all), { values: new Set(), fields: all });
    return;
  }
  const { [key]: _key, ...fields } = all;
  const name = `${key} ${print(fields)}`;
  const merged = byRest.get(name) ?? { key, values: new Set<Value>(), fields };
  for (const value of test.in) merged.values.add(value);
  byRest.set(name, merged);
}

/** As text, of which two are alike where these are. Thousands are printed for one search. */
function print(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof Date) return `@${value.getTime()}`;
  if (Array.isArray(value)) return `[${value.map(print).join()}]`;
  let text = '{';
  for (const [name, each] of Object.entries(value)) text += `${name}:${print(each)},`;
  return `${text}}`;
}
