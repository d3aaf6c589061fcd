import { FhirError } from '../fhir/errors.js';

/** What FHIR resources are sent as. https://hl7.org/fhir/R5/http.html#mime-type */
export const JSON_TYPE = 'application/fhir+json';

/** Names for the formats: media types, their aliases, and the short forms of `_format`. */
const FORMATS: Readonly<Record<string, 'json' | 'xml'>> = {
  'application/fhir+json': 'json',
  'application/json': 'json',
  'text/json': 'json',
  'application/json+fhir': 'json',
  json: 'json',
  'application/fhir+xml': 'xml',
  'application/xml': 'xml',
  'text/xml': 'xml',
  'application/xml+fhir': 'xml',
  xml: 'xml',
};

/** Ranges of an `Accept` header that JSON satisfies. */
const WILDCARDS = new Set(['*/*', 'application/*', 'text/*', '*']);

interface MediaType {
  readonly name: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * Checks that the answer may be JSON, the only format so far. `_format` counts before `Accept`.
 * https://hl7.org/fhir/R5/http.html#parameters
 *
 * @throws FhirError `not-acceptable`
 */
export function checkAccept(accept: string | undefined, format: string | undefined): void {
  // A "+" in a query stands for a space: `_format=application/fhir+json` arrives without it.
  const wanted = format === undefined ? accept : format.replace(/^(application\/(?:fhir|json|xml)) /, '$1+');
  if (wanted === undefined || wanted.trim() === '') return;
  if (!splitList(wanted).some(jsonSatisfies)) {
    throw new FhirError('not-acceptable', `The server answers ${JSON_TYPE} only for now, not ${quote(wanted)}`);
  }
}

function jsonSatisfies(range: string): boolean {
  const { name, parameters } = parseMediaType(range);
  if (Number(parameters.get('q') ?? '1') === 0) return false;
  if (WILDCARDS.has(name)) return true;
  return FORMATS[name] === 'json' && isServedVersion(parameters);
}

/**
 * Checks that a body may be read: JSON in UTF-8 of the release that is served.
 * https://hl7.org/fhir/R5/http.html#version-parameter
 *
 * @throws FhirError `unsupported-media-type`
 */
export function checkContentType(contentType: string | undefined): void {
  if (contentType === undefined) throw unsupported(`The request has no Content-Type; send ${JSON_TYPE}`);
  const { name, parameters } = parseMediaType(contentType);
  if (FORMATS[name] !== 'json' || !name.includes('/')) {
    throw unsupported(`The server reads ${JSON_TYPE} only for now, not ${quote(contentType)}`);
  }
  if (!isServedVersion(parameters)) throw unsupported(`The server reads FHIR 5.0 only, not ${quote(contentType)}`);
  const charset = parameters.get('charset')?.toLowerCase() ?? 'utf-8';
  if (charset !== 'utf-8' && charset !== 'utf8')
    throw unsupported(`The server reads UTF-8 only, not ${quote(charset)}`);
}

function unsupported(text: string): FhirError {
  return new FhirError('unsupported-media-type', text, { headers: { Accept: JSON_TYPE } });
}

function isServedVersion(parameters: ReadonlyMap<string, string>): boolean {
  const version = parameters.get('fhirversion');
  return version === undefined || version === '5.0';
}

function parseMediaType(text: string): MediaType {
  const [name = '', ...rest] = text.split(';');
  const parameters = new Map<string, string>();
  for (const parameter of rest) {
    const [key = '', value = ''] = parameter.split('=', 2);
    parameters.set(key.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, '$1'));
  }
  return { name: name.trim().toLowerCase(), parameters };
}

function splitList(header: string): string[] {
  return header.split(',').filter((part) => part.trim() !== '');
}

function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
