import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { FhirError } from '../../../runtime/fhir/errors.js';
import type { JsonValue } from '../../../runtime/fhir/resource.js';
import { applyJsonPatch } from '../../../runtime/patch/json/json-patch.js';
import { freeze } from './freeze.js';
import { escape, get, naivePatch, pointers, type Operation } from './json-naive.js';

const SEED = 20261121;
const RUNS = { seed: SEED, numRuns: 500 };

const name = fc.constantFrom('a', 'b', '', '0', '1', '-', 'a/b', 'm~n', '~1', '/', 'toString', 'constructor');
const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<JsonValue>(null, true, 0, 1.5, 'text', ''),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4 }).map((object) => ({ ...object })),
  ),
}));

/** Numbers that choose an operation among those that can be done. */
const choice = fc.record({ op: fc.nat(5), from: fc.nat(), to: fc.nat(), at: fc.nat(), name, value });
type Choice = typeof choice extends fc.Arbitrary<infer T> ? T : never;

/** A path where something can be added, chosen by a number. */
function free(document: JsonValue, choice: Choice): string {
  const places = pointers(document);
  const place = places[choice.to % places.length]!;
  const holder = get(document, place);
  if (typeof holder !== 'object' || holder === null) return place === '' ? '' : free(document, { ...choice, to: 0 });
  if (!Array.isArray(holder)) return `${place}/${escape(choice.name)}`;
  const index = choice.at % (holder.length + 2);
  return `${place}/${index > holder.length ? '-' : index}`;
}

/** The operation that the numbers choose, or undefined where there is none of its kind. */
function choose(document: JsonValue, choice: Choice): Operation | undefined {
  const all = pointers(document);
  const there = all[choice.from % all.length]!;
  switch (choice.op) {
    case 0:
      return { op: 'add', path: free(document, choice), value: choice.value };
    case 1:
      return there === '' ? undefined : { op: 'remove', path: there };
    case 2:
      return { op: 'replace', path: there, value: choice.value };
    case 3:
      return { op: 'copy', from: there, path: free(document, choice) };
    case 4: {
      if (there === '') return undefined;
      const rest = naivePatch(document, [{ op: 'remove', path: there }]);
      return { op: 'move', from: there, path: free(rest, choice) };
    }
    default:
      return { op: 'test', path: there, value: get(document, there) };
  }
}

const documentAndPatch = fc.tuple(value, fc.array(choice, { maxLength: 12 })).map(([document, choices]) => {
  const patch: Operation[] = [];
  let current = document;
  for (const each of choices) {
    const operation = choose(current, each);
    // What grows and grows makes the test slow and shows no more.
    if (operation === undefined || pointers(current).length > 300) continue;
    // A place that the value takes with it: "move" into itself.
    if (
      operation.op === 'move' &&
      `${operation.path}/`.startsWith(`${operation.from!}/`) &&
      operation.path !== operation.from
    )
      continue;
    patch.push(operation);
    current = naivePatch(current, [operation]);
  }
  return { document, patch };
});

describe('JSON Patch, random trees and patches', () => {
  it('does what the plain way does, and changes neither tree', () => {
    const used = new Set<string>();
    fc.assert(
      fc.property(documentAndPatch, ({ document, patch }) => {
        for (const { op } of patch) used.add(op);
        const result = applyJsonPatch(freeze(structuredClone(document)), freeze(structuredClone(patch)));
        expect(result).toEqual(naivePatch(document, patch));
      }),
      RUNS,
    );
    expect([...used].sort()).toEqual(['add', 'copy', 'move', 'remove', 'replace', 'test']);
  });

  it('one patch does what its operations do one after the other', () => {
    fc.assert(
      fc.property(documentAndPatch, ({ document, patch }) => {
        const steps = patch.reduce((tree, operation) => applyJsonPatch(tree, [operation]), document);
        expect(applyJsonPatch(document, patch)).toEqual(steps);
      }),
      RUNS,
    );
  });

  it('what is added and removed again leaves the document as it was, if nothing stood there', () => {
    fc.assert(
      fc.property(value, choice, (document, chosen) => {
        const path = free(document, chosen);
        const at = path.slice(0, path.lastIndexOf('/'));
        const holder = path === '' ? undefined : get(document, at);
        fc.pre(holder !== undefined && (Array.isArray(holder) || !pointers(document).includes(path)));
        const back = path.endsWith('/-') && Array.isArray(holder) ? `${at}/${holder.length}` : path;
        const patch = [
          { op: 'add', path, value: chosen.value },
          { op: 'test', path: back, value: chosen.value },
          { op: 'remove', path: back },
        ];
        expect(applyJsonPatch(document, patch)).toEqual(document);
      }),
      RUNS,
    );
  });

  it('whatever is sent is applied or refused with a FhirError', () => {
    const path = fc.oneof(
      fc.array(name.map(escape), { maxLength: 4 }).map((tokens) => ['', ...tokens].join('/')),
      fc.string(),
      value,
    );
    const op = fc.oneof(fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test'), value);
    const operation = fc.oneof(
      { weight: 9, arbitrary: fc.record({ op, path, from: path, value }, { requiredKeys: [] }) },
      value,
    );
    let refused = 0;
    fc.assert(
      fc.property(
        value,
        fc.oneof({ weight: 9, arbitrary: fc.array(operation, { maxLength: 4 }) }, value),
        (document, patch) => {
          try {
            applyJsonPatch(freeze(document), freeze(patch as JsonValue));
          } catch (error) {
            expect(error).toBeInstanceOf(FhirError);
            refused++;
          }
        },
      ),
      { seed: SEED, numRuns: 2000 },
    );
    expect(refused).toBeGreaterThan(100);
    expect(refused).toBeLessThan(1990);
  });
});
