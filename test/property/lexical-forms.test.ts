import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { tables } from '../../generated/tables.js';
import { FhirError } from '../../runtime/fhir/errors.js';
import type { Resource } from '../../runtime/fhir/resource.js';
import { readJson } from '../../runtime/format/read-json.js';
import { readXml } from '../../runtime/format/xml/read-xml.js';
import { writeJson } from '../../runtime/format/write-json.js';
import { createValidator } from '../../runtime/validate/create-validator.js';

const validate = createValidator(tables);
const REFUSED = 'refused';

/** What comes of a resource: its JSON, or that it is refused. */
function judge(read: () => Resource): string {
  try {
    const resource = read();
    return validate(resource).length > 0 ? REFUSED : writeJson(resource);
  } catch (error) {
    if (error instanceof FhirError && error.status === 400) return REFUSED;
    throw error;
  }
}

const named = (type: string) => `value${type.charAt(0).toUpperCase()}${type.slice(1)}`;
const attribute = (text: string) => text.replace(/[^A-Za-z0-9]/g, (each) => `&#${each.codePointAt(0)!};`);

const inXml = (type: string, text: string) =>
  judge(() =>
    readXml(
      `<Parameters xmlns="http://hl7.org/fhir"><parameter><name value="n"/><${named(type)} value="${attribute(text)}"/></parameter></Parameters>`,
      tables,
    ),
  );

const inJson = (type: string, json: string) =>
  judge(
    () =>
      readJson(`{"resourceType":"Parameters","parameter":[{"name":"n","${named(type)}":${json}}]}`, 100) as Resource,
  );

/** Texts that are nearly values. */
const texts = fc.oneof(
  fc.constantFrom('+1', '+0', '-0', '01', '-01', '1.', '.5', '1.0', '1e2', '+1.5', '1E+2', '0x1', 'NaN', 'INF', '--1'),
  fc.constantFrom('true', 'TRUE', '1', '0', 'false ', '2147483647', '2147483648', '9223372036854775808', '1e400'),
  fc.constantFrom(
    '2024',
    '2024-02-30',
    '2024-1-1',
    '2024-01-01T00:00:00Z',
    '2024-01-01T24:00:00Z',
    '24:00:00',
    '12:00:00',
  ),
  fc.constantFrom(' ', '  ', '\t', '\n', ' \r\n ', '\u00a0', 'a b', 'a  b', ' a', 'a ', '\u2003a', 'http://a b'),
  fc.constantFrom('urn:oid:1.2', 'urn:oid:1.02', 'urn:uuid:a', 'YQ==', 'YQ=', 'a_b', 'x'.repeat(65)),
  fc.string({ unit: fc.constantFrom(...'0123456789+-.eETZ: \ta'), minLength: 1, maxLength: 12 }),
);

describe('a value is judged alike in XML and in JSON (datatypes.html#primitive)', () => {
  const rows = tables.primitives.filter(({ name }) => name !== 'xhtml');

  it.each(rows.map((row) => [row.name, row] as const))('%s', (name, { json }) => {
    fc.assert(
      fc.property(texts, (text) => {
        // White space around a value counts in strings alone; XML knows no other value there. https://hl7.org/fhir/R5/xml.html
        const value = name === 'string' || name === 'markdown' ? text : text.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
        // The pattern of integer has a sign that no number in JSON has.
        const number = name === 'integer' && /^\+[1-9]/.test(value) ? value.slice(1) : value;
        expect(inXml(name, text)).toBe(inJson(name, json === 'string' ? JSON.stringify(value) : number));
      }),
      { numRuns: 300, seed: 7 },
    );
  });

  it.each([
    ['decimal', '+1'],
    ['decimal', '+1.5'],
    ['positiveInt', '+1'],
    ['unsignedInt', '+0'],
    ['integer', '01'],
    ['integer', '+0'],
    ['boolean', '1'],
    ['string', '  '],
    ['string', '\t\n'],
    ['markdown', ' '],
  ])('%s %j is refused in both', (type, text) => {
    const json = tables.primitives.find(({ name }) => name === type)?.json;
    expect([inXml(type, text), inJson(type, json === 'string' ? JSON.stringify(text) : text)]).toEqual([
      REFUSED,
      REFUSED,
    ]);
  });

  it('so are ids of elements, and white space beyond that of XML is text', () => {
    const xml = (id: string) =>
      judge(() =>
        readXml(
          `<Patient xmlns="http://hl7.org/fhir"><name id="${attribute(id)}"><family value="a"/></name></Patient>`,
          tables,
        ),
      );
    const json = (id: string) => judge(() => ({ resourceType: 'Patient', name: [{ id, family: 'a' }] }));
    expect([xml(' '), json(' ')]).toEqual([REFUSED, REFUSED]);
    expect(inXml('string', '\u00a0')).toBe(inJson('string', '"\u00a0"'));
    expect(inXml('string', '\u00a0')).not.toBe(REFUSED);
  });
});
