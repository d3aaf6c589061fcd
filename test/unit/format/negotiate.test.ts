import { describe, expect, it } from 'vitest';

import { asksForResource, bodyFormat, negotiate, type FormatName } from '../../../runtime/format/negotiate.js';

const both: FormatName[] = ['json', 'xml'];

describe('negotiation with two formats (http.html#mime-type)', () => {
  it.each([
    [undefined, undefined, 'application/fhir+json; charset=utf-8'],
    ['*/*', undefined, 'application/fhir+json; charset=utf-8'],
    ['application/fhir+xml', undefined, 'application/fhir+xml; charset=utf-8'],
    ['application/xml', undefined, 'application/xml; charset=utf-8'],
    ['text/json', undefined, 'text/json; charset=utf-8'],
    ['application/fhir+xml, application/fhir+json', undefined, 'application/fhir+xml; charset=utf-8'],
    ['application/fhir+xml;q=0.8, application/fhir+json;q=0.9', undefined, 'application/fhir+json; charset=utf-8'],
    ['application/fhir+json;q=0.5, */*', undefined, 'application/fhir+xml; charset=utf-8'],
    ['application/fhir+json;q=0, */*', undefined, 'application/fhir+xml; charset=utf-8'],
    ['application/fhir+xml, */*;q=0.1', undefined, 'application/fhir+xml; charset=utf-8'],
    ['text/html,application/xml;q=0.9,*/*;q=0.8', undefined, 'text/html; charset=utf-8'],
    ['text/html;q=0.8,application/xml;q=0.9', undefined, 'application/xml; charset=utf-8'],
    ['text/html', undefined, 'text/html; charset=utf-8'],
    ['application/fhir+json', 'html', 'text/html; charset=utf-8'],
    ['application/fhir+json; fhirVersion=5.0', undefined, 'application/fhir+json; charset=utf-8; fhirVersion=5.0'],
    ['application/fhir+json', 'xml', 'application/fhir+xml; charset=utf-8'],
    ['text/html', 'application/fhir xml', 'application/fhir+xml; charset=utf-8'],
  ])('Accept %s, _format %s: %s', (accept, format, contentType) => {
    expect(negotiate(accept, format, both).contentType).toBe(contentType);
  });

  it.each(['text/csv', 'text/html;q=0', 'application/fhir+xml; fhirVersion=4.0', '*/*;q=0', 'nonsense'])(
    '%s: 406',
    (accept) => {
      expect(() => negotiate(accept, undefined, both)).toThrow(/application\/fhir\+json or application\/fhir\+xml/);
    },
  );

  it('bodies', () => {
    expect(bodyFormat('text/xml; charset=utf-8', both)).toBe('xml');
    expect(bodyFormat('application/json', both)).toBe('json');
    for (const type of [undefined, 'xml', 'image/png', 'text/html', 'application/fhir+xml; fhirVersion=3.0']) {
      expect(() => bodyFormat(type, both)).toThrow();
    }
    expect(() => bodyFormat('application/xml', ['json'])).toThrow();
  });

  it('a Binary is the resource for FHIR types alone', () => {
    expect(asksForResource('application/fhir+xml', undefined)).toBe(true);
    expect(asksForResource('application/fhir+json, */*', undefined)).toBe(true);
    expect(asksForResource('application/json', undefined)).toBe(false);
    expect(asksForResource(undefined, 'json')).toBe(true);
    expect(asksForResource('application/fhir+json', 'image/png')).toBe(false);
  });
});
