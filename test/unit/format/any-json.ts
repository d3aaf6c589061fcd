import fc from 'fast-check';

/** Texts of numbers of all shapes: long, short, large, with and without fraction and exponent. */
const number = fc
  .record({
    sign: fc.constantFrom('', '-'),
    whole: fc.oneof(fc.constant('0'), fc.bigInt({ min: 1n, max: 10n ** 45n }).map(String)),
    fraction: fc.oneof(fc.constant(''), fc.stringMatching(/^\.[0-9]{1,40}$/)),
    exponent: fc.oneof({ weight: 3, arbitrary: fc.constant('') }, fc.stringMatching(/^[eE][+-]?[0-9]{1,4}$/)),
  })
  .map(({ sign, whole, fraction, exponent }) => sign + whole + fraction + exponent);

const string = fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text));

const name = fc
  .oneof(
    fc.string({ unit: 'grapheme', maxLength: 6 }),
    fc.constantFrom(
      '',
      '$',
      '$set',
      'a.b',
      '.',
      '0',
      '7',
      '10',
      '$ref',
      '$id',
      'é',
      'constructor',
      'toBSON',
      '_bsontype',
    ),
  )
  .filter((text) => !text.includes('\0') && !['__proto__', 'resourceType', 'id', 'meta'].includes(text));

const { value } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthIdentifier: 'json' },
    fc.constantFrom('null', 'true', 'false'),
    number,
    string,
    fc.array(tie('value'), { maxLength: 5, depthIdentifier: 'json' }).map((values) => `[${values.join(',')}]`),
    tie('object'),
  ),
  object: members(tie('value')),
}));

function members(of: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .uniqueArray(fc.tuple(name, of), { maxLength: 6, selector: ([key]) => key, depthIdentifier: 'json' })
    .map((pairs) => `{${pairs.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`);
}

/** Texts of JSON objects without `resourceType`, `id` and `meta`. */
export const anyJsonObjectText: fc.Arbitrary<string> = members(value);
