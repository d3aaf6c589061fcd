import { observation, patient, right, text, wrong, type HardCase } from './hard-case.js';

const value = (type: string, given: unknown): object =>
  patient({ extension: [{ url: 'u:x', [`value${type}`]: given }] });
const raw = (type: string, given: string): string => text(`"extension":[{"url":"u:x","value${type}":${given}}]`);

const RIGHT: Readonly<Record<string, readonly unknown[]>> = {
  Id: ['a', 'A-1.b', 'a'.repeat(64)],
  Date: ['2024', '2024-02', '2024-02-29', '1900-01-01', '0001-01-01'],
  DateTime: ['2024', '2024-02', '2024-02-29', '2024-02-29T00:00:00Z', '2024-02-29T23:59:60Z', '2024-02-29T10:00:00.123456+14:00', '2024-02-29T10:00:00-12:00'], // prettier-ignore
  Instant: ['2024-02-29T10:00:00Z', '2024-02-29T10:00:00.1+01:00'],
  Time: ['00:00:00', '23:59:59.999'],
  Integer: [0, -1, 2147483647, -2147483648],
  PositiveInt: [1, 2147483647],
  UnsignedInt: [0, 2147483647],
  Integer64: ['0', '-9223372036854775808', '9223372036854775807'],
  Code: ['a', 'a b', 'ä'],
  Uri: [
    'http://x.org/a?b#c',
    'urn:oid:1.2.3',
    'urn:uuid:c757873d-ec9a-4326-a141-556f43239520',
    'a/b',
    '#a',
    'http://x.org/ä',
  ],
  Url: ['http://x.org', 'mailto:a@x.org'],
  Canonical: ['http://x.org/a|1.0', 'http://x.org/a|1.0#b'],
  Oid: ['urn:oid:0.0', 'urn:oid:2.16.840.1.113883'],
  Uuid: ['urn:uuid:c757873d-ec9a-4326-a141-556f43239520'],
  Base64Binary: ['YQ==', 'YWI=', 'YWJj', 'YW Jj\n'],
  String: ['a', ' a ', 'a\tb\nc', 'x'.repeat(1024 * 1024)],
  Markdown: ['# a\n\n* b', '<b>x</b>'],
  Boolean: [true, false],
};

const WRONG: Readonly<Record<string, readonly unknown[]>> = {
  Id: ['', 'a_b', 'a b', 'a'.repeat(65), 'ä', 1],
  Date: ['2024-02-30', '2023-02-29', '2024-13', '2024-00', '2024-1-1', '24-01-01', '2024-01-01T10:00:00Z', '20240101', ' 2024', '02024', '0000', 2024], // prettier-ignore
  DateTime: ['2024-02-29T10:00:00', '2024-02-29T10:00Z', '2024-02-29T24:00:00Z', '2024-02-29T10:60:00Z', '2024-02-30T10:00:00Z', '2024-02-29T10:00:00+14:30', '2024-02-29T10:00:00+25:00', '2024-02-29 10:00:00Z', '2024-02T10:00:00Z', '2024-02-29T10:00:00.Z', '2024-02-29T10:00:00z', '2024-02-29T10:00:00+0100'], // prettier-ignore
  Instant: ['2024-02-29', '2024-02-29T10:00:00', '2024', '2024-02-29T10:00Z'],
  Time: ['24:00:00', '10:00', '10:00:00Z', '10:60:00', '1:00:00'],
  Integer: [2147483648, -2147483649, 1.5, '1', true],
  PositiveInt: [0, -1, 2147483648],
  UnsignedInt: [-1, 2147483648],
  Integer64: [1, '1.0', '9223372036854775808', '01', '', 'x'],
  Code: ['', ' a', 'a ', 'a  b', 'a\tb', 'a\nb'],
  Uri: ['http://x.org/a b', '', ' http://x.org', 'urn:oid:1.2.03.', 'urn:uuid:123', 'urn:oid:a'],
  Url: ['http://x.org/a b', ''],
  Canonical: ['http://x.org/a b', ''],
  Oid: ['1.2.3', 'urn:oid:3.1', 'urn:oid:1', 'urn:oid:1.02', 'urn:oid:1..2'],
  Uuid: ['c757873d-ec9a-4326-a141-556f43239520', 'urn:uuid:c757873dec9a4326a141556f43239520', 'urn:uuid:C757873D-EC9A-4326-A141-556F43239520'], // prettier-ignore
  Base64Binary: ['Y', 'YQ=', 'YQ', 'Y*==', 'YQ==YQ==', '', '===='],
  String: ['', 1, true, ['a'], 'x'.repeat(1024 * 1024 + 1)],
  Boolean: ['true', 1, 0, 'false'],
};

const RAW_RIGHT: Readonly<Record<string, readonly string[]>> = {
  Decimal: [
    '0',
    '-0.0',
    '1.0',
    '1.500',
    '1e5',
    '1E-5',
    '0.12345678901234567',
    '123456789012345678',
    '1.23456789012345678',
  ],
};

const RAW_WRONG: Readonly<Record<string, readonly string[]>> = {
  // The pattern of decimal: 18 digits before the point, 17 behind it; "Decimals in FHIR cannot have more than 18 digits".
  Decimal: [
    '"1.0"',
    'true',
    '01.5',
    '1.',
    '+1.5',
    '"NaN"',
    '1234567890123456789',
    '0.123456789012345678',
    '1234567890.1234567890',
  ],
  Integer: ['1.0', '1e0', '-0', '1E2'],
  PositiveInt: ['1.0'],
};

const shown = (given: unknown): string => JSON.stringify(given).slice(0, 50);
const list = <T>(
  from: Readonly<Record<string, readonly T[]>>,
  make: (type: string, given: T) => HardCase,
): HardCase[] => Object.entries(from).flatMap(([type, all]) => all.map((given) => make(type, given)));

/** https://hl7.org/fhir/R5/datatypes.html#primitive */
export const PRIMITIVE_CASES: readonly HardCase[] = [
  ...list(RIGHT, (type, given) => right(`${type} ${shown(given)}`, value(type, given))),
  ...list(WRONG, (type, given) => wrong(`${type} ${shown(given)}`, value(type, given))),
  ...list(RAW_RIGHT, (type, given) => right(`${type} ${given}`, raw(type, given))),
  ...list(RAW_WRONG, (type, given) => wrong(`${type} ${given}`, raw(type, given))),
  wrong('an id of a resource with a sign', patient({ id: 'a_b' }), { isCreated: true }),
  wrong('an id of a contained resource with a sign', patient({ contained: [{ resourceType: 'Organization', id: 'a_b', name: 'x' }], managingOrganization: { reference: '#a_b' } })), // prettier-ignore
  right('an id of an element with spaces is a string', patient({ name: [{ id: 'a_b', family: 'x' }] })),
  wrong('a code outside its value set', patient({ gender: 'Male' })),
  wrong('a coding outside its value set', observation({ status: 'done' })),
  wrong('a language that there is not', patient({ language: 'english language' })),
  right('a language with a region', patient({ language: 'de-CH' })),
  wrong('a MIME type that is none', patient({ photo: [{ contentType: 'jpeg', url: 'http://x.org/a' }] })),
  wrong('a unit that is no code of UCUM but a system', observation({ valueQuantity: { value: 1, code: 'a  b', system: 'http://unitsofmeasure.org' } })), // prettier-ignore
];
