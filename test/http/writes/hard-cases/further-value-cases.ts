import { observation, patient, right, text, wrong, type HardCase } from './hard-case.js';

const value = (type: string, given: unknown): object =>
  patient({ extension: [{ url: 'u:x', [`value${type}`]: given }] });
const raw = (type: string, given: string): string => text(`"extension":[{"url":"u:x","value${type}":${given}}]`);

const RIGHT: Readonly<Record<string, readonly unknown[]>> = {
  Date: ['2000-02-29', '9999-12-31', '2024-12-31'],
  DateTime: ['2016-12-31T23:59:60.5Z', '2024-01-01T10:00:00-00:00', '2024-01-01T10:00:00.123456789Z', '2024-01-01T10:00:00+13:59'], // prettier-ignore
  Instant: ['2024-01-01T10:00:00.123Z', '2016-12-31T23:59:60Z'],
  Time: ['23:59:60', '00:00:00.123456789'],
  Id: ['.', '-', '0'],
  Code: ['a b c', '<', 'A-1.b_c'],
  Oid: ['urn:oid:1.0.8802'],
  Base64Binary: ['AA==', '/+8=', 'YQ==\n'],
  String: ['\u200b', '𝄞', '\u007f', '"'],
  Markdown: ['\ttext'],
  Uri: ['urn:isbn:123', 'HTTP://X.ORG', '../a', 'tel:+1', 'http://x.org/%20'],
  Integer64: ['-1', '1'],
};

const WRONG: Readonly<Record<string, readonly unknown[]>> = {
  Date: ['2024-04-31', '1900-02-29', '2024-2', '', '2024-01-01Z', '2024/01/01', '-2024', '2024-W01', '2024-01-00', '2024-01-32', '0000-01-01', '2024-01-', '２０２４'], // prettier-ignore
  DateTime: ['2024-01-01T10Z', '2024-01-01T10:00:00+14:01', '2024-01-01T23:59:61Z', '2024-01-01T10:00:00.1234567890Z', '2024-01-01T', '2024-01-01t10:00:00Z', '0000-01-01T00:00:00Z', '2024-04-31T10:00:00Z', '2024-01-01T10:00:00,5Z', '2024-01-01T10:00:00+1:00', '2024-01-01T10:00:00Z ', ''], // prettier-ignore
  Instant: ['2024-01', '2024-01-01T24:00:00Z', '2024-01-01T10:00:00+02', '2023-02-29T10:00:00Z', '2024-01-01T10:00:00.Z', ''], // prettier-ignore
  Time: ['23:59', '12:00:00.1234567890', '12:00:00+01:00', '', 'T12:00:00', '12:00:61', '24:00:00.0', '12:0:00'],
  Boolean: ['', 'TRUE', null],
  Integer: ['', null, [1], { value: 1 }],
  PositiveInt: ['1', 0.5],
  UnsignedInt: ['0'],
  Integer64: ['-0', ' 5', '00', '1e3', '-9223372036854775809', 5],
  Id: ['a/b', 'a\n', 'a.b#c', ' a', 'a '],
  Code: ['a\u00a0b', ' ', 'a\r'],
  Oid: ['urn:oid:1.2.', 'URN:OID:1.2', 'urn:oid:', 'urn:oid:1.2.a', '', 'oid:1.2'],
  Uuid: ['urn:uuid:c757873d-ec9a-4326-a141-556f4323952', 'urn:uuid:g757873d-ec9a-4326-a141-556f43239520', 'urn:uuid:', ''], // prettier-ignore
  Uri: ['a b', 'http://x.org\n', '\thttp://x.org', ' '],
  Url: ['http://x.org/ a', ' '],
  Canonical: ['http://x.org/a |1', 'http://x.org/a|1 0'],
  Base64Binary: ['a', 'YWJ$', 'YWJj=', 'YW-_', '   ', 'Y=Q=', '=YQ='],
  String: ['a\u0000', 'a\u0007', 'a\u001f', 5, null, {}],
  Markdown: ['', 1, 'a\u0000'],
};

const RAW_RIGHT = ['-1.50e+3', '1.0E0', '100', '0.00', '1e-7', '-0', '12345678.90'];
const RAW_WRONG = ['1e400', '-1e400', '0.0000000000000000001', '"1"', '[1]', '{"value":1}', '1e999999999'];

const shown = (given: unknown): string => JSON.stringify(given) ?? 'nothing';
const all = (from: Readonly<Record<string, readonly unknown[]>>, make: typeof right): HardCase[] =>
  Object.entries(from).flatMap(([type, given]) => given.map((each) => make(`${type} ${shown(each)}`, value(type, each)))); // prettier-ignore

/** https://hl7.org/fhir/R5/datatypes.html#primitive, continued. */
export const FURTHER_VALUE_CASES: readonly HardCase[] = [
  ...all(RIGHT, right),
  ...all(WRONG, wrong),
  ...RAW_RIGHT.map((given) => right(`Decimal ${given}`, raw('Decimal', given))),
  ...RAW_WRONG.map((given) => wrong(`Decimal ${given}`, raw('Decimal', given))),
  wrong('a date with a time for birthDate', patient({ birthDate: '2024-01-01T10:00:00Z' })),
  wrong('an instant without seconds in meta', patient({ meta: { lastUpdated: '2024-01-01T10:00Z' } })),
  wrong('a version id with a space', patient({ meta: { versionId: 'a b' } })),
  wrong('a profile with a space', patient({ meta: { profile: ['http://x.org/ a'] } })),
  wrong('a value that is too precise', observation({ valueInteger: 1.5 })),
  wrong('a rank of 0', patient({ telecom: [{ system: 'phone', value: '1', rank: 0 }] })),
  wrong('a comparator that there is not', observation({ valueQuantity: { value: 1, comparator: '=' } })),
];
