import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tables } from '../../../generated/tables.js';
import type { PrimitiveRow } from '../../../runtime/contract/index.js';
import { Decimal } from '../../../runtime/fhir/decimal.js';
import { compilePrimitives } from '../../../runtime/validate/compile-primitives.js';
import { BAD, GOOD } from '../../conformance/validation/validate-mutations.js';

const tests = compilePrimitives(tables.primitives);
const isValid = (type: string, value: unknown): boolean => tests.get(type)!(value);

describe('primitive values (datatypes.html#primitive)', () => {
  it.each(Object.keys(GOOD))('%s takes what it should', (type) => {
    expect(GOOD[type]!.filter((value) => !isValid(type, value))).toEqual([]);
  });
  it.each(Object.keys(BAD))('%s refuses what it should', (type) => {
    expect(BAD[type]!.filter((value) => isValid(type, value))).toEqual([]);
  });
  it('every type refuses other JSON types, null and the empty string', () => {
    for (const { name, json } of tables.primitives) {
      const others = ['', null, undefined, [], {}, ['x'], Number.NaN, Number.POSITIVE_INFINITY];
      const wrong = json === 'string' ? [1, true] : json === 'number' ? ['1', true] : ['true', 1];
      expect([...others, ...wrong].filter((value) => isValid(name, value))).toEqual([]);
    }
  });
});

describe('native tests say what the patterns of the rows say', () => {
  // The text of a narrative has a test of its own: xhtml.test.ts.
  const rows = tables.primitives.filter(({ name, json }) => json === 'string' && name !== 'xhtml');
  it.each(rows)('$name', (row) => {
    const whole = new RegExp(`^(?:${row.pattern ?? '[\\s\\S]*'})$`, 'u');
    fc.assert(
      fc.property(textNear(row), (text) => {
        // White space in base64 is no part of it (R04).
        const own = row.name === 'base64Binary' ? text.replace(/[ \t\r\n]+/g, '') : text;
        expect(isValid(row.name, text)).toBe(whole.test(own) && obeysTheRest(row, own));
      }),
      { numRuns: 1000 },
    );
  });

  /** The rules that no pattern holds. */
  function obeysTheRest(row: PrimitiveRow, text: string): boolean {
    // eslint-disable-next-line no-control-regex
    if (text === '' || /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(text)) return false;
    if (['string', 'markdown'].includes(row.name) && !/[^ \t\r\n]/.test(text)) return false;
    if (row.name === 'integer64') return BigInt.asIntN(64, BigInt(text)) === BigInt(text);
    const day = ['date', 'dateTime', 'instant'].includes(row.name) ? /^\d{4}-\d\d-\d\d/.exec(text)?.[0] : undefined;
    return day === undefined || new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
  }

  /** Text that matches, such text with a few characters changed, and any text. */
  function textNear(row: PrimitiveRow): fc.Arbitrary<string> {
    const right = row.pattern === undefined ? fc.string() : fc.stringMatching(new RegExp(`^(?:${row.pattern})$`));
    const character = fc.oneof(
      fc.constantFrom(...'0123456789-+:.TZ =aZ/\u0000\t\n\r\u00a0\u1680\u2003\u2028\u3000\ufeff\u180e\ufffe\uffff'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    );
    const changed = fc.tuple(right, fc.nat(), fc.nat(2), character).map(([text, at, length, instead]) => {
      const start = text.length === 0 ? 0 : at % text.length;
      return text.slice(0, start) + instead + text.slice(start + length);
    });
    return fc.oneof(right, changed, fc.string({ unit: 'binary' }));
  }
});

describe('numbers', () => {
  it('decimal: by the text where it was kept (datatypes.html#decimal)', () => {
    for (const text of ['1.0', '-0.00', '66.899999999999991', '1e3', '1.5E-9', '0', '123456789012345678']) {
      expect(isValid('decimal', new Decimal(text))).toBe(true);
    }
    for (const text of ['1234567890123456789', '0.123456789012345678', '1e1234567890', '01', '.5', '1.']) {
      expect(isValid('decimal', new Decimal(text))).toBe(false);
    }
  });
  it('decimal: a double as its text', () => {
    const pattern = tables.primitives.find(({ name }) => name === 'decimal')!.pattern!;
    const whole = new RegExp(`^(?:${pattern})$`, 'u');
    fc.assert(
      fc.property(fc.oneof(fc.double(), fc.double({ min: -10, max: 10 }), fc.integer()), (value) => {
        expect(isValid('decimal', value)).toBe(whole.test(String(value)));
      }),
      { numRuns: 5000 },
    );
  });
  it('integers have neither fraction nor exponent nor a negative zero in their text', () => {
    for (const type of ['integer', 'unsignedInt', 'positiveInt']) {
      for (const text of ['1.0', '1e3', '-0', '12345678901234567890']) {
        expect(isValid(type, new Decimal(text))).toBe(false);
      }
    }
  });
});

describe('long text', () => {
  it('of megabytes neither throws nor takes long (some patterns run out of stack on it)', () => {
    const long = {
      code: 'a b '.repeat(1e5) + 'x',
      base64Binary: 'AAAA'.repeat(2e6),
      oid: 'urn:oid:1' + '.1'.repeat(3e6),
    };
    for (const [type, text] of Object.entries({ ...long, uri: 'x'.repeat(5e6) })) {
      expect(isValid(type, text)).toBe(true);
      expect(isValid(type, `${text} `)).toBe(type === 'base64Binary');
    }
    for (const { name } of tables.primitives) expect(() => isValid(name, '1'.repeat(5e6))).not.toThrow();
  });
  it('string: at most 1,048,576 characters, and what specialises it too', () => {
    for (const type of ['string', 'markdown', 'code']) {
      expect(isValid(type, 'x'.repeat(1_048_576))).toBe(true);
      expect(isValid(type, 'x'.repeat(1_048_577))).toBe(false);
    }
  });
});

describe('a row of another package', () => {
  const row: PrimitiveRow = { name: 'code', json: 'string', pattern: '[a-z]+', maxLength: 3 };
  it('is obeyed where its pattern is not the one that a native test was written for', () => {
    const test = compilePrimitives([row]).get('code')!;
    expect(['abc', 'abcd', 'A', ''].map(test)).toEqual([true, false, false, false]);
  });
});
