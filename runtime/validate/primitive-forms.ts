import { Decimal } from '../fhir/decimal.js';

/** The JSON types, as a sentence names them. */
export type JsonForm = 'a string' | 'a number' | 'true or false' | 'an array' | 'an object' | 'null' | 'nothing';

/** The JSON type of any value. */
export function formOf(value: unknown): JsonForm {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (value instanceof Decimal) return 'a number';
  return FORMS[typeof value] ?? 'nothing';
}

const FORMS: Readonly<Record<string, JsonForm>> = {
  string: 'a string',
  number: 'a number',
  bigint: 'a number',
  boolean: 'true or false',
  object: 'an object',
};

/** Form of the values of a primitive type: the JSON type, and in words what a value looks like. */
export interface PrimitiveForm {
  readonly json: JsonForm;
  readonly text: string;
}

const NO_CONTROL = 'up to 1,048,576 characters, not white space alone, no control characters but tab and line ends';
const DAY = 'and a day of the calendar';

/** https://hl7.org/fhir/R5/datatypes.html#primitive */
const PRIMITIVES: Readonly<Record<string, PrimitiveForm>> = {
  base64Binary: { json: 'a string', text: 'base64, padded with "="' },
  boolean: { json: 'true or false', text: 'true or false' },
  canonical: { json: 'a string', text: 'a URL without white space, perhaps with |version' },
  code: { json: 'a string', text: 'words parted by single spaces, none at its ends, no control characters' },
  date: { json: 'a string', text: `YYYY, YYYY-MM or YYYY-MM-DD, ${DAY}` },
  dateTime: { json: 'a string', text: `YYYY, YYYY-MM, YYYY-MM-DD or YYYY-MM-DDThh:mm:ss with Z or +zz:zz, ${DAY}` },
  decimal: {
    json: 'a number',
    text: 'up to 18 digits, at most 17 of them after the point, between 1e-307 and 1e308 or 0',
  },
  id: { json: 'a string', text: '1 to 64 letters, digits, "-" and "."' },
  instant: { json: 'a string', text: `YYYY-MM-DDThh:mm:ss with Z or +zz:zz, ${DAY}` },
  integer: { json: 'a number', text: 'a whole number of 32 bits, without point and exponent' },
  integer64: { json: 'a string', text: 'a whole number of 64 bits, in quotes' },
  markdown: { json: 'a string', text: NO_CONTROL },
  oid: { json: 'a string', text: 'urn:oid:1.2.3' },
  positiveInt: { json: 'a number', text: 'a whole number from 1 to 2,147,483,647' },
  string: { json: 'a string', text: NO_CONTROL },
  time: { json: 'a string', text: 'hh:mm:ss, perhaps with a fraction, without zone' },
  unsignedInt: { json: 'a number', text: 'a whole number from 0 to 2,147,483,647' },
  uri: { json: 'a string', text: 'no white space, no control characters' },
  url: { json: 'a string', text: 'no white space, no control characters' },
  uuid: { json: 'a string', text: 'urn:uuid: and a UUID in lower case' },
  xhtml: { json: 'a string', text: 'a well-formed div of XHTML' },
};
const OTHER: PrimitiveForm = { json: 'a string', text: 'see the pattern of the type' };

/** Returns the form of the values of a primitive type. */
export function primitiveForm(type: string): PrimitiveForm {
  return PRIMITIVES[type] ?? OTHER;
}

/** A value as a message shows it: as JSON, and not much of it. */
export function show(value: unknown): string {
  const text = value instanceof Decimal ? value.text : typeof value === 'string' ? value : String(value);
  const cut = text.length > 64 ? `${text.slice(0, 63)}…` : text;
  return typeof value === 'string' ? JSON.stringify(cut) : cut;
}
