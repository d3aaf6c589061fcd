import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { ElementRow } from '../../../runtime/contract/types.js';
import { createRuleChecker } from '../../../runtime/validate/rules/create-rule-checker.js';
import { createValidator } from '../../../runtime/validate/create-validator.js';
import { exampleFiles, readExample } from '../formats/examples.js';
import { RULE_INSTANCES, UNBREAKABLE } from './rule-instances.js';

type Json = Record<string, unknown>;

/** Numbers from a seed: the same changes at each run. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** An object of a resource, and its type. */
interface Typed {
  readonly object: Json;
  readonly type: string;
}

const rows = new Map(tables.types.map((row) => [row.name, row]));

function elementsOf(type: string): readonly ElementRow[] {
  const row = rows.get(type);
  return row === undefined ? [] : [...(row.base === undefined ? [] : elementsOf(row.base)), ...row.elements];
}

/** Forms of an element in JSON: name and type. */
function formsOf({ name, choice, types }: ElementRow): readonly (readonly [string, string])[] {
  return types.map((type) => [choice ? name + type.charAt(0).toUpperCase() + type.slice(1) : name, type] as const);
}

/** All objects of a value, itself included, each with its type. */
function objectsIn(value: unknown, type: string, found: Typed[] = []): Typed[] {
  if (Array.isArray(value)) for (const each of value) objectsIn(each, type, found);
  else if (typeof value === 'object' && value !== null) {
    const object = value as Json;
    const own = typeof object['resourceType'] === 'string' ? object['resourceType'] : type;
    found.push({ object, type: own });
    for (const element of elementsOf(own)) {
      for (const [key, form] of formsOf(element)) if (object[key] !== undefined) objectsIn(object[key], form, found);
    }
  }
  return found;
}

/** Where each error rule applies: to values of a type, or to an element of one. */
const places = tables.invariants
  .filter(({ severity }) => severity === 'error')
  .map(({ id, expression }) => ({
    id,
    names: [...new Set(expression.match(/[a-z][A-Za-z]+/g))],
    codes: [...expression.matchAll(/'([A-Za-z-]+)'/g)].map(([, code]) => code!),
    types: tables.types.flatMap(({ name, rules = [], elements }) => [
      ...(rules.includes(id) ? [name] : []),
      // The focus is the element; of a primitive what holds it.
      ...elements
        .filter((each) => each.rules?.includes(id))
        .flatMap((each) => (rows.has(each.types[0] ?? '') ? each.types : [name])),
    ]),
  }));

describe('changes to official examples break rules', () => {
  const checker = createRuleChecker(tables);
  const structure = createValidator(tables);
  const pick = seeded(20);
  /** By type, the objects of examples that keep all rules. */
  const samples = new Map<string, { readonly file: string; readonly index: number }[]>();
  const texts = new Map<string, string>();
  /** Values of elements, by type of the element. */
  const values = new Map<string, unknown[]>();

  it('each error rule fails alone after one or two changes of what it names, or in the instance that is written for it', () => {
    for (const file of exampleFiles()) {
      const { text, resource } = readExample(file);
      if (text.length > 60_000 || checker.errors(resource).length > 0) continue;
      texts.set(file, text);
      for (const [index, { type, object }] of objectsIn(resource, '').entries()) {
        for (const name of [type, ...types(type)]) {
          const list = samples.get(name) ?? [];
          samples.set(name, list);
          if (list.length < 12) list.push({ file, index });
        }
        for (const element of elementsOf(type)) {
          for (const [key, form] of formsOf(element)) {
            const list = values.get(form) ?? [];
            values.set(form, list);
            const value = Array.isArray(object[key]) ? (object[key] as unknown[])[0] : object[key];
            if (value !== undefined && value !== null && list.length < 30) list.push(value);
          }
        }
      }
    }
    const alone = new Set<string>();
    for (const rule of places) {
      for (let i = 0; i < 150 && !alone.has(rule.id); i++) if (breaks(rule)) alone.add(rule.id);
    }
    const written = new Set([...RULE_INSTANCES.map(({ id }) => id), ...Object.keys(UNBREAKABLE)]);
    expect(places.length).toBeGreaterThan(270);
    expect(alone.size).toBeGreaterThan(places.length * 0.6);
    expect(places.map(({ id }) => id).filter((id) => !alone.has(id) && !written.has(id))).toEqual([]);
  }, 240_000);

  function types(type: string): readonly string[] {
    const base = rows.get(type)?.base;
    return base === undefined ? [] : [base, ...types(base)];
  }

  /** Tries a change; whether the rule, and no other, is broken then, while the structure is right. */
  function breaks({ id, names, codes, types: on }: (typeof places)[number]): boolean {
    const all = on.flatMap((type) => samples.get(type) ?? []);
    const sample = all[pick(Math.max(all.length, 1))];
    if (sample === undefined) return false;
    const changed = JSON.parse(texts.get(sample.file)!) as Json;
    const { object, type } = objectsIn(changed, '')[sample.index]!;
    const inside = objectsIn(object, type);
    for (let n = 1 + pick(2); n > 0; n--) change(inside[pick(4) > 0 ? 0 : pick(inside.length)]!, names, codes);
    if (structure(changed).length > 0) return false;
    const keys = new Set(checker.errors(changed).map(({ rule }) => rule));
    return keys.size === 1 && keys.has(id.replace(/@.*/, ''));
  }

  /** Removes, repeats, adds or alters an element that the rule names. */
  function change({ object, type }: Typed, names: readonly string[], codes: readonly string[]): void {
    const named = elementsOf(type).filter(({ name }) => names.includes(name));
    const element = named[pick(Math.max(named.length, 1))];
    if (element === undefined) return;
    const forms = formsOf(element);
    const present = forms.find(([key]) => object[key] !== undefined);
    const [key, form] = present ?? forms[pick(forms.length)]!;
    const way = pick(5);
    if (way === 4) for (const each of named) for (const [other] of formsOf(each)) delete object[other];
    if (way === 4 && pick(2) > 0) return;
    if (present !== undefined && way === 0) delete object[key];
    else if (Array.isArray(object[key]) && way === 1)
      object[key] = [...(object[key] as unknown[]), ...structuredClone(object[key] as unknown[])];
    else {
      const others = values.get(form) ?? [];
      const value =
        form === 'code' && codes.length > 0 && pick(3) > 0
          ? codes[pick(codes.length)]
          : structuredClone(others[pick(Math.max(others.length, 1))]);
      if (value !== undefined) object[key] = element.max === '*' ? [value] : value;
    }
  }
});
