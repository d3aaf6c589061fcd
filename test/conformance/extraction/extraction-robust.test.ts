import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tables } from '../../../generated/tables.js';
import { Decimal } from '../../../runtime/fhir/decimal.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import { createFilledResources } from './filled-resource.js';

const extract = createExtractor(tables);
const fill = createFilledResources(tables);

/** Whatever a parser could hand over, and more. */
const junk = fc.oneof(
  fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true, withSparseArray: true }),
  fc.constantFrom<unknown>(
    new Decimal('1e999'),
    new Decimal('x'),
    '#',
    '/',
    '//',
    '_history/',
    'Patient/',
    '|',
    'urn:',
    '2015-02-30',
    '2015-',
    '\ud800',
    '\u0000',
    [],
    [[]],
    [null],
    {},
    { coding: null },
    { coding: [null, 5, [], { code: [] }] },
    { reference: {} },
    { start: 5, end: [] },
    { event: {}, repeat: [{ boundsPeriod: 7 }] },
    { low: [], high: 'x' },
    { origin: { value: 1 }, data: 'U L E 1e9999 x' },
  ),
  fc.string({ unit: 'binary' }),
);

/** Every place in a JSON tree that holds a value. */
function places(value: unknown, found: [Record<string, unknown>, string][] = []): [Record<string, unknown>, string][] {
  if (typeof value !== 'object' || value === null) return found;
  for (const name of Object.keys(value)) {
    if (name === 'resourceType' && found.length === 0) continue;
    found.push([value as Record<string, unknown>, name]);
    places((value as Record<string, unknown>)[name], found);
  }
  return found;
}

describe('extraction never throws, whatever a resource holds', () => {
  it('anything in the place of anything', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...tables.resourceTypes),
        fc.nat(129),
        fc.array(fc.tuple(fc.nat(), junk), { minLength: 1, maxLength: 12 }),
        (type, variant, faults) => {
          const resource = structuredClone(fill(type, variant));
          const all = places(resource);
          for (const [at, value] of faults) {
            const [holder, name] = all[at % all.length] ?? [resource, 'id'];
            holder[name] = value;
          }
          expect(Array.isArray(extract(resource))).toBe(true);
        },
      ),
      { numRuns: 3000 },
    );
  }, 60_000);

  it('one kind of junk in every place of a type', () => {
    fc.assert(
      fc.property(fc.constantFrom(...tables.resourceTypes), junk, (type, value) => {
        const names = Object.keys(fill(type, 0)).filter((name) => name !== 'resourceType');
        const resource = Object.fromEntries(names.map((name) => [name, value]));
        expect(Array.isArray(extract({ resourceType: type, ...resource }))).toBe(true);
      }),
      { numRuns: 2000 },
    );
  }, 60_000);

  it('no resource at all', () => {
    for (const value of [null, undefined, 5, 'Patient', [], { resourceType: {} }, { resourceType: '__proto__' }]) {
      expect(extract(value as unknown as Record<string, unknown>)).toEqual([]);
    }
  });
});
