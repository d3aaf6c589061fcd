import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tables } from '../../../generated/tables.js';
import { createValidator } from '../../../runtime/validate/create-validator.js';
import type { JsonPath } from '../../../runtime/fhir/errors.js';
import { exampleFiles, readExample } from '../formats/examples.js';
import { createFilledResources } from '../extraction/filled-resource.js';

const validate = createValidator(tables);
const fill = createFilledResources(tables);
/** Small examples of all kinds, without siblings of primitives: beside those null can be right. */
const examples = exampleFiles()
  .filter((_, i) => i % 7 === 0)
  .map(readExample)
  .filter(({ text }) => text.length < 20_000 && !text.includes('"_'))
  .map(({ text }) => text);

describe('validation never throws', () => {
  it('whatever JSON comes', () => {
    const names = fc.oneof(fc.constantFrom('extension', '_given', 'given', 'contained', '__proto__'), fc.string());
    const content = fc.dictionary(names, fc.jsonValue());
    fc.assert(
      fc.property(fc.constantFrom(...tables.resourceTypes, 'x'), content, fc.jsonValue(), (type, some, any) => {
        expect(Array.isArray(validate({ resourceType: type, ...some }))).toBe(true);
        expect(validate(any).length).toBeGreaterThan(0);
      }),
      { numRuns: 1000 },
    );
  });
  it('whatever stands in the place of anything', () => {
    const junk = fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true, withSparseArray: true });
    fc.assert(
      fc.property(fc.constantFrom(...tables.resourceTypes), fc.nat(129), fc.nat(), junk, (type, variant, at, value) => {
        const resource = structuredClone(fill(type, variant));
        const places = placesOf(resource);
        const { holder, name } = places[at % places.length]!;
        holder[name] = value;
        expect(Array.isArray(validate(resource))).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('junk in a valid resource is found where it is', () => {
  it('by a fault whose expression points at it or above it', () => {
    const junk = fc.constantFrom<unknown>(null, {}, [], '', [null], [[]], { zz: 1 }, [{ zz: [] }], '\u0000', [{}]);
    fc.assert(
      fc.property(fc.constantFrom(...examples), fc.nat(), fc.boolean(), junk, (text, at, isNew, value) => {
        const resource = JSON.parse(text) as Record<string, unknown>;
        const places = placesOf(resource).filter(({ name }) => name !== 'resourceType');
        const { holder, name, path } = places[at % places.length]!;
        // In the place of something; or beside it, under a name that no type has.
        const isInserted = isNew && !Array.isArray(holder);
        const where = isInserted ? [...path.slice(0, -1), 'zz'] : path;
        holder[isInserted ? 'zz' : name] = value;
        const faults = validate(resource);
        const related = faults.filter((fault) => isAtOrAbove(fault.path, where) || isAtOrAbove(where, fault.path));
        expect(related.length).toBeGreaterThan(0);
        expect(related.some(({ expression }) => isOnTheWay(expression, String(resource['resourceType']), where))).toBe(
          true,
        );
      }),
      { numRuns: 3000 },
    );
  }, 60_000);
});

interface Place {
  readonly holder: Record<string | number, unknown>;
  readonly name: string | number;
  readonly path: JsonPath;
}

/** Every place in a JSON tree that holds a value. */
function placesOf(value: unknown, path: JsonPath = []): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  const holder = value as Record<string | number, unknown>;
  const names: (string | number)[] = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return names.flatMap((name) => {
    const at = [...path, name];
    return [{ holder, name, path: at }, ...placesOf(holder[name], at)];
  });
}

function isAtOrAbove(path: JsonPath, place: JsonPath): boolean {
  return path.every((step, i) => step === place[i]);
}

/**
 * Whether an expression names the way to this place, as far as the shorter of both goes: `Patient.value` does for
 * `valueQuantity`, `Patient.given[0]` for `_given`.
 */
function isOnTheWay(expression: string, type: string, path: JsonPath): boolean {
  const [root, ...steps] = expression.split(/\.|(?=\[)/);
  return (
    root === type &&
    steps.every((step, i) => {
      const name = path[i];
      if (name === undefined) return true;
      return typeof name === 'number' ? step === `[${name}]` : name.replace(/^_/, '').startsWith(step);
    })
  );
}
