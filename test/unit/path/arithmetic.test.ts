import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { ARITHMETIC } from '../../../runtime/path/evaluate/arithmetic.js';

/** A decimal of few digits, and the same as a whole number of thousandths. */
const decimals = fc
  .tuple(fc.integer({ min: -99_999, max: 99_999 }), fc.integer({ min: 0, max: 3 }))
  .map(([whole, places]) => ({
    value: Number(`${whole}e-${places}`),
    thousandths: BigInt(whole * 10 ** (3 - places)),
  }));

describe('arithmetic of FHIRPath', () => {
  it.each([
    ['1.8 - 1.2', ARITHMETIC['-'](1.8, 1.2), 0.6],
    ['0.1 + 0.2', ARITHMETIC['+'](0.1, 0.2), 0.3],
    ['1.1 * 1.1', ARITHMETIC['*'](1.1, 1.1), 1.21],
    ['1.1 / 0.1', ARITHMETIC['/'](1.1, 0.1), 11],
    ['0.3 div 0.1', ARITHMETIC.div(0.3, 0.1), 3],
    ['5.5 mod 0.7', ARITHMETIC.mod(5.5, 0.7), 0.6],
    ['-7 div 2', ARITHMETIC.div(-7, 2), -3],
    ['1e-7 + 2e-7', ARITHMETIC['+'](1e-7, 2e-7), 3e-7],
    ['1 / 0', ARITHMETIC['/'](1, 0), undefined],
    ['1.5 mod 0', ARITHMETIC.mod(1.5, 0), undefined],
  ])('%s', (_, result, right) => expect(result).toBe(right));

  it('is exact for decimals of some digits', () => {
    fc.assert(
      fc.property(decimals, decimals, (a, b) => {
        expect(ARITHMETIC['+'](a.value, b.value)).toBe(Number(`${a.thousandths + b.thousandths}e-3`));
        expect(ARITHMETIC['-'](a.value, b.value)).toBe(Number(`${a.thousandths - b.thousandths}e-3`));
        expect(ARITHMETIC['*'](a.value, b.value)! + 0).toBe(Number(`${a.thousandths * b.thousandths}e-6`) + 0);
        if (b.thousandths === 0n) return;
        expect(ARITHMETIC.div(a.value, b.value)! + 0).toBe(Number(a.thousandths / b.thousandths));
        expect(ARITHMETIC.mod(a.value, b.value)! + 0).toBe(Number(`${a.thousandths % b.thousandths}e-3`));
      }),
    );
  });
});
