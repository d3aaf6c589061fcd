import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { FhirError } from '../../../runtime/fhir/errors.js';
import { readJson } from '../../../runtime/format/read-json.js';
import { writeJson } from '../../../runtime/format/write-json.js';
import { readXml, type XmlLimits } from '../../../runtime/format/xml/read-xml.js';
import { processorTime } from '../../processor-time.js';

const patient = (inner: string): string => `<Patient xmlns="http://hl7.org/fhir">${inner}</Patient>`;
const parameters = (inner: string): string => `<Parameters xmlns="http://hl7.org/fhir">${inner}</Parameters>`;

/** What is said to a text, which has to be said soon: what grows with the square of its size takes minutes. */
function refusal(xml: string, limits?: XmlLimits): string {
  const took = processorTime();
  try {
    readXml(xml, tables, limits);
  } catch (error) {
    if (!(error instanceof FhirError)) throw error;
    expect(took()).toBeLessThan(10_000);
    return `${error.status} ${error.issues[0].text}`;
  }
  return 'nothing';
}

describe('XML bombs (security.html)', () => {
  it('a billion laughs', () => {
    const entities = Array.from({ length: 9 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join('');
    const xml = `<?xml version="1.0"?><!DOCTYPE l [<!ENTITY l0 "ha">${entities}]>${patient('<gender value="&l9;"/>')}`;
    expect(refusal(xml)).toMatch(/^400 .*a DOCTYPE is not allowed/);
  });

  it('a file of the server as an entity', () => {
    const xml = `<!DOCTYPE a [<!ENTITY f SYSTEM "file:///etc/passwd">]>${patient('<gender value="&f;"/>')}`;
    expect(refusal(xml)).toContain('a DOCTYPE is not allowed');
    expect(refusal(`<!DOCTYPE a SYSTEM "http://evil.example/x.dtd">${patient('')}`)).toContain('a DOCTYPE');
  });

  it('elements nested 50,000 deep: known, unknown, in narratives', () => {
    const nest = (name: string, start = `<${name}>`): string => start.repeat(50_000) + `</${name}>`.repeat(50_000);
    const deep = /^400 Line 1, column \d+: elements are nested too deeply/;
    expect(refusal(parameters(`<parameter>${nest('part')}</parameter>`))).toMatch(deep);
    expect(refusal(patient(nest('extension', '<extension url="u">')))).toMatch(deep);
    expect(refusal(parameters(nest('parameter', '<parameter><resource><Parameters>')))).toMatch(deep);
    expect(refusal(patient(`<text><div xmlns="http://www.w3.org/1999/xhtml">${nest('b')}</div></text>`))).toMatch(deep);
    expect(refusal(nest('a'))).toContain('a resource is in the namespace');
  });

  it('nesting goes as deep as in JSON, so that what is read can be stored and read again', () => {
    const nested = (depth: number): string =>
      parameters(`<parameter>${'<part>'.repeat(depth)}<name value="n"/>${'</part>'.repeat(depth)}</parameter>`);
    // The Parameters are one object; each parameter or part is an array and an object.
    const deepest = readXml(nested(48), tables);
    expect(readJson(writeJson(deepest))).toEqual(deepest);
    expect(refusal(nested(49))).toContain('nested too deeply');
    expect(refusal(nested(3), { maxDepth: 9 })).toBe('nothing');
    expect(refusal(nested(4), { maxDepth: 9 })).toContain('nested too deeply (9 levels in JSON)');
    expect(refusal(nested(3).replace('<name value', '<name id="i" value'), { maxDepth: 9 })).toContain(
      'nested too deeply',
    );
  });

  it('a value of 5 MB, 50,000 attributes, 200,000 references, 1 MB of a name', () => {
    expect(readXml(patient(`<gender value="${'x'.repeat(5_000_000)}"/>`), tables)['gender']).toHaveLength(5_000_000);
    const attributes = Array.from({ length: 50_000 }, (_, i) => `a${i}="${i}"`).join(' ');
    expect(refusal(patient(`<name ${attributes}/>`))).toContain('more than 1000 attributes');
    const namespaces = Array.from({ length: 20_000 }, (_, i) => `xmlns:a${i}="urn:${i}"`).join(' ');
    expect(refusal(patient(`<active ${namespaces} value="true"/>`))).toContain('more than 1000 attributes');
    expect(readXml(patient(`<gender value="${'&amp;'.repeat(200_000)}"/>`), tables)['gender']).toHaveLength(200_000);
    const name = 'n'.repeat(1_000_000);
    expect(refusal(patient(`<${name}/>`))).toMatch(/^400 Line 1, column 38: Patient has no element "n{64}…"$/);
    expect(refusal(`<${name} xmlns="http://hl7.org/fhir">`).length).toBeLessThan(400);
  });

  it('faults at the end of a long document', () => {
    const long = '<identifier>\n<value value="1"/></identifier>\n'.repeat(30_000);
    expect(refusal(patient(`${long}${'<foo/>\n'.repeat(200)}`))).toMatch(/^400 Line 60001, column 1: /);
  });

  it('a text that is too large is not even looked at', () => {
    expect(refusal('<'.repeat(1001), { maxSize: 1000 })).toBe('413 The body is larger than 1000 bytes');
  });
});
