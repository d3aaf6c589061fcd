import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { Decimal } from '../../../runtime/fhir/decimal.js';
import { FhirError } from '../../../runtime/fhir/errors.js';
import type { JsonValue } from '../../../runtime/fhir/resource.js';
import { readJson } from '../../../runtime/format/read-json.js';
import { decodeUtf8 } from '../../../runtime/format/utf8.js';
import { writeJson } from '../../../runtime/format/write-json.js';

function failureOf(action: () => unknown): { code: string; text: string } {
  try {
    action();
  } catch (error) {
    if (error instanceof FhirError) return { code: error.code, text: error.message };
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('reading JSON (RFC 8259, json.html)', () => {
  it.each<[string, JsonValue]>([
    ['null', null],
    [' \t\r\n true ', true],
    ['false', false],
    ['""', ''],
    ['"a\\"\\\\\\/\\b\\f\\n\\r\\tz"', 'a"\\/\b\f\n\r\tz'],
    ['"\\u00e4\\u00E4\\ud83d\\ude00😀"', 'ää😀😀'],
    ['"\\u0000"', '\u0000'],
    ['"\u007f\u2028"', '\u007f\u2028'],
    ['[]', []],
    ['[ 1 , [ ] ]', [1, []]],
    ['{}', {}],
    ['{ "a" : { "" : null } }', { a: { '': null } }],
    ['{"constructor":1,"toString":2,"hasOwnProperty":3}', { constructor: 1, toString: 2, hasOwnProperty: 3 }],
  ])('%s', (text, value) => {
    expect(readJson(text)).toEqual(value);
  });

  it.each(['0', '1', '-1', '1.5', '-0.001', '123456789012345', '9007199254740991', '1e+21', '5e-324'])(
    'the number %s is plain',
    (text) => expect(readJson(text)).toBe(Number(text)),
  );

  it.each(['-0', '1.0', '0.10', '1e3', '1E3', '1e-7000', '66.899999999999991', '9007199254740993', '1e400', '0.0'])(
    'the number %s keeps its text',
    (text) => {
      expect(readJson(text)).toEqual(new Decimal(text));
      expect(writeJson(readJson(`{"a":[${text}]}`))).toBe(`{"a":[${text}]}`);
    },
  );

  it.each([
    ['', 'json-syntax', 1, 1],
    ['  \n ', 'json-syntax', 2, 2],
    ['nul', 'json-syntax', 1, 1],
    ['{"a":1,}', 'json-syntax', 1, 8],
    ['{a:1}', 'json-syntax', 1, 2],
    ["{'a':1}", 'json-syntax', 1, 2],
    ['{"a" 1}', 'json-syntax', 1, 6],
    ['{"a":1 "b":2}', 'json-syntax', 1, 8],
    ['{"a":}', 'json-syntax', 1, 6],
    ['{"a":1', 'json-syntax', 1, 7],
    ['[1,]', 'json-syntax', 1, 4],
    ['[1 2]', 'json-syntax', 1, 4],
    ['[1', 'json-syntax', 1, 3],
    ['"a', 'json-syntax', 1, 3],
    ['"a\nb"', 'json-syntax', 1, 3],
    ['"\u0001"', 'json-syntax', 1, 2],
    ['"\\x"', 'json-syntax', 1, 2],
    ['"\\u12g4"', 'json-syntax', 1, 2],
    ['"\\u12', 'json-syntax', 1, 2],
    ['01', 'json-syntax', 1, 1],
    ['1.', 'json-syntax', 1, 1],
    ['.5', 'json-syntax', 1, 1],
    ['-', 'json-syntax', 1, 1],
    ['+1', 'json-syntax', 1, 1],
    ['1e', 'json-syntax', 1, 1],
    ['NaN', 'json-syntax', 1, 1],
    ['{} {}', 'json-syntax', 1, 4],
    ['/* */ 1', 'json-syntax', 1, 1],
    ['\ufeff{}', 'json-syntax', 1, 1],
    ['{"a":1,\n "a":2}', 'json-duplicate-key', 2, 2],
    ['{"a":1,"\\u0061":2}', 'json-duplicate-key', 1, 8],
    ['{"a":null,"a":null}', 'json-duplicate-key', 1, 11],
    ['{"constructor":1,"constructor":1}', 'json-duplicate-key', 1, 18],
    ['{"__proto__":1}', 'json-forbidden-key', 1, 2],
    ['[{"\\u005f_proto__":1}]', 'json-forbidden-key', 1, 3],
    ['"\\ud800"', 'json-encoding', 1, 2],
    ['"\\ud800x"', 'json-encoding', 1, 2],
    ['"\\ud800\\ud800"', 'json-encoding', 1, 2],
    ['"\\udc00"', 'json-encoding', 1, 2],
    ['"\\ud800\udc00"', 'json-encoding', 1, 2],
    ['"x\ud800"', 'json-encoding', 1, 3],
    ['{"\udc00":1}', 'json-encoding', 1, 3],
  ])('%j is refused: %s at line %i, column %i', (text, code, line, column) => {
    const failure = failureOf(() => readJson(text));
    expect(failure.code).toBe(code);
    expect(failure.text).toContain(`Line ${line}, column ${column}: `);
  });

  it('goes 100 deep, not 101', () => {
    const nested = (depth: number) => '[{"a":'.repeat(depth / 2) + '0' + '}]'.repeat(depth / 2);
    expect(writeJson(readJson(nested(100)))).toBe(nested(100));
    expect(failureOf(() => readJson(`[${nested(100)}]`)).code).toBe('json-depth');
    expect(failureOf(() => readJson('['.repeat(1_000_000))).code).toBe('json-depth');
  });

  it('leaves no trace in prototypes', () => {
    const value = readJson('{"a":{"constructor":{"prototype":{"polluted":1}}}}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('agrees with JSON.parse on all that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), fc.integer({ min: 0, max: 3 }), (text, indent) => {
        fc.pre(!text.includes('__proto__'));
        const spaced = JSON.stringify(JSON.parse(text), null, indent);
        expect(plain(readJson(spaced))).toEqual(JSON.parse(spaced));
      }),
      { numRuns: 500 },
    );
  });

  it('refuses what JSON.parse refuses: any text one character away from JSON', () => {
    const edited = fc.tuple(
      fc.json(),
      fc.nat(),
      fc.constantFrom('', '"', '\\', '{', '}', '[', ']', ',', ':', '0', '-', 'e', '.', ' ', '\n', 'u', '\u0007'),
    );
    fc.assert(
      fc.property(edited, ([json, at, character]) => {
        const position = at % (json.length + 1);
        const text = json.slice(0, position) + character + json.slice(position + 1);
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          // Which fault is told where there are several is left open.
          expect(failureOf(() => readJson(text)).code).toMatch(/^json-/);
          return;
        }
        try {
          expect(plain(readJson(text))).toEqual(expected);
        } catch (error) {
          // Stricter than JSON.parse, but in these only.
          if (!(error instanceof FhirError)) throw error;
          expect(['json-duplicate-key', 'json-encoding', 'json-forbidden-key']).toContain(error.code);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('writing JSON', () => {
  /** Numbers as people write them, most of which a double would not give back. */
  const decimalText = fc.stringMatching(/^-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?$/);
  const compactJson: fc.Arbitrary<string> = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
      decimalText,
      fc.constantFrom('true', 'false', 'null'),
      fc.array(tie('value'), { maxLength: 4 }).map((parts) => `[${parts.join()}]`),
      fc
        .uniqueArray(fc.tuple(fc.stringMatching(/^[a-z_]{1,8}$/), tie('value')), {
          maxLength: 4,
          selector: ([name]) => name,
        })
        .map((members) => `{${members.map(([name, value]) => `"${name}":${String(value)}`).join()}}`),
    ),
  })).value as fc.Arbitrary<string>;

  it('gives compact text back to the character', () => {
    fc.assert(
      fc.property(compactJson, (text) => {
        expect(writeJson(readJson(text))).toBe(text);
      }),
      { numRuns: 1000 },
    );
  });

  it('indents as JSON.stringify does, with Decimals or without', () => {
    const value = { a: [], b: {}, c: [1, { d: null }], e: { f: 'x' } };
    expect(writeJson(value, 2)).toBe(JSON.stringify(value, null, 2));
    const text = writeJson({ ...value, g: new Decimal('1.0') }, 2);
    expect(text).toBe(JSON.stringify({ ...value, g: 'G' }, null, 2).replace('"G"', '1.0'));
    expect(writeJson(readJson(text))).toBe(JSON.stringify({ ...value, g: 'G' }).replace('"G"', '1.0'));
  });
});

describe('UTF-8', () => {
  it('leaves out a byte order mark', () => {
    expect(decodeUtf8(Buffer.from('\ufeff{}'))).toBe('{}');
    expect(decodeUtf8(Buffer.from('ä😀'))).toBe('ä😀');
  });

  it.each([
    [Buffer.from([0xff]), 1, 1],
    [Buffer.from('ab\ncd\xe4f', 'latin1'), 2, 3],
    [Buffer.concat([Buffer.from('ä\n€'), Buffer.from([0xe2, 0x82])]), 2, 4],
    [Buffer.from([0x61, 0xc0, 0x80]), 1, 2], // overlong
    [Buffer.from([0x61, 0xed, 0xa0, 0x80]), 1, 2], // surrogate
    [Buffer.from([0x61, 0xf5, 0x80, 0x80, 0x80]), 1, 2], // beyond Unicode
    [Buffer.from([0x61, 0x62, 0x80]), 1, 3],
    [Buffer.concat([Buffer.alloc(5000, 'ä'), Buffer.from([0xfe]), Buffer.alloc(5000, 'ä')]), 1, 5001],
  ])('%#: names line and byte of what is not valid', (bytes, line, at) => {
    const failure = failureOf(() => decodeUtf8(bytes));
    expect(failure.code).toBe('json-encoding');
    expect(failure.text).toContain(`Line ${line}, byte ${at}:`);
  });
});

/** Decimals as the doubles that JSON.parse makes of them. */
function plain(value: JsonValue): unknown {
  if (value instanceof Decimal) return Number(value.text);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, plain(child)]));
}
