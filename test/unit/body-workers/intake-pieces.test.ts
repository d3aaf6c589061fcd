import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { Decimal } from '../../../runtime/fhir/decimal.js';
import type { JsonValue } from '../../../runtime/fhir/resource.js';
import { writeJson } from '../../../runtime/format/write-json.js';
import { assemble, cutTree, type Piece } from '../../../runtime/body-workers/pieces.js';

/** Through another thread and back. */
function across(tree: JsonValue, size: number): { back: JsonValue; pieces: Piece[] } {
  const pieces = [...cutTree(tree, size)];
  const assembly = assemble();
  for (const piece of pieces) assembly.add(structuredClone(piece));
  return { back: assembly.tree, pieces };
}

const { tree: trees } = fc.letrec<{ tree: JsonValue; leaf: JsonValue }>((tie) => ({
  leaf: fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\u0000', '\u0000\u0000x', 'x\u0000'),
    fc.boolean(),
    fc.constant(null),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
    fc.constantFrom(new Decimal('1.0'), new Decimal('-0'), new Decimal('66.899999999999991'), new Decimal('1e400')),
  ),
  tree: fc.oneof(
    { maxDepth: 5 },
    tie('leaf'),
    fc.array(tie('tree'), { maxLength: 5 }),
    fc.dictionary(
      fc.string().filter((name) => name !== '__proto__'),
      tie('tree'),
      { noNullPrototype: true, maxKeys: 5 },
    ),
  ),
}));

describe('a tree cut into pieces', () => {
  it('is the same when it is put together, order of members and text of numbers included', () => {
    fc.assert(
      fc.property(trees, fc.constantFrom(1, 10, 100, 1000), (tree, size) => {
        const { back } = across(tree, size);
        expect(back).toEqual(tree);
        expect(writeJson(back)).toBe(writeJson(tree));
      }),
      { numRuns: 500 },
    );
  });

  it('comes in pieces of twice the size at most, but for long strings', () => {
    const concept = (code: number): JsonValue => ({
      code: `c${code}`,
      display: 'x'.repeat(50),
      is: [true, new Decimal('1.0')],
    });
    const tree = {
      resourceType: 'ValueSet',
      compose: { include: [{ concept: Array.from({ length: 5000 }, (_, i) => concept(i)) }] },
      note: 'y'.repeat(5000),
    };
    const { back, pieces } = across(tree, 1000);
    expect(back).toEqual(tree);
    const sizes = pieces.map((piece) => piece.length).sort((a, b) => b - a);
    expect(sizes[0]).toBeGreaterThan(5000);
    expect(sizes[1]).toBeLessThan(2500);
    expect(pieces.length).toBeGreaterThan(200);
  });
});
