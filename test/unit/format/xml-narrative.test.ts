import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { FhirError } from '../../../runtime/fhir/errors.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { readXml } from '../../../runtime/format/xml/read-xml.js';
import { writeXml } from '../../../runtime/format/xml/write-xml.js';

const XHTML = 'xmlns="http://www.w3.org/1999/xhtml"';

function divOf(xml: string): unknown {
  return (readXml(xml, tables)['text'] as Record<string, unknown>)['div'];
}

function write(div: string): string {
  const xml = writeXml({ resourceType: 'Patient', text: { status: 'generated', div } } as Resource, tables);
  return xml.slice(xml.indexOf('<status value="generated"/>') + 27, xml.indexOf('</text>'));
}

describe('reading narratives (narrative.html)', () => {
  it.each([
    `<div ${XHTML}>x</div>`,
    `<div ${XHTML}/>`,
    `<div  ${XHTML.replaceAll('"', "'")} >a &lt; b &amp;&#160;&#xA0; <br /><img src='#x' alt="y"></img>\r\n<!-- c --></div >`,
    `<div ${XHTML}><div ${XHTML}><div/></div></div>`,
    `<div xml:lang="de" ${XHTML}><![CDATA[<&>]]></div>`,
  ])('%s stays as it is', (div) => {
    const xml = `<Patient xmlns="http://hl7.org/fhir"><text><status value="generated"/>\n${div}\n</text></Patient>`;
    expect(divOf(xml)).toBe(div);
    expect(write(div)).toBe(div);
  });

  it('prefixes are taken out, because JSON has none', () => {
    const text =
      '<f:text><h:div class="a"><h:p title="&quot;&#10;"> a &amp; b</h:p><h:br/><![CDATA[<]]>&#13;</h:div></f:text>';
    const xml = `<f:Patient xmlns:f="http://hl7.org/fhir" xmlns:h="http://www.w3.org/1999/xhtml">${text}</f:Patient>`;
    expect(divOf(xml)).toBe(`<div ${XHTML} class="a"><p title="&quot;&#10;"> a &amp; b</p><br/>&lt;&#13;</div>`);
  });

  it('a namespace declared around it is written into it', () => {
    const xml = `<f:Patient xmlns:f="http://hl7.org/fhir" ${XHTML}><f:text><div><b>x</b></div></f:text></f:Patient>`;
    expect(divOf(xml)).toBe(`<div ${XHTML}><b>x</b></div>`);
  });

  it('a prefix declared within it too', () => {
    const div = `<div ${XHTML}><h:p xmlns:h="http://www.w3.org/1999/xhtml">x</h:p><p/></div>`;
    expect(divOf(`<Patient xmlns="http://hl7.org/fhir"><text>${div}</text></Patient>`)).toBe(
      `<div ${XHTML}><p>x</p><p/></div>`,
    );
  });
});

describe('writing narratives', () => {
  it('white space around them is dropped, a missing namespace added', () => {
    expect(write(` \n<div ${XHTML}>x</div>\n`)).toBe(`<div ${XHTML}>x</div>`);
    expect(write('<div class="a">x<p/></div>')).toBe(`<div ${XHTML} class="a">x<p/></div>`);
    expect(write('<!-- <div> --><div>x</div>')).toBe(`<!-- <div> --><div ${XHTML}>x</div>`);
    expect(write('<div/>')).toBe(`<div ${XHTML}/>`);
    expect(write(`<div title=">" ${XHTML}>x</div>`)).toBe(`<div title=">" ${XHTML}>x</div>`);
    expect(write(`<h:div xmlns:h="http://www.w3.org/1999/xhtml">x</h:div>`)).toContain('<h:div xmlns:h=');
  });

  it.each([
    ['text only', 'x'],
    ['nothing', ''],
    ['an open tag', `<div ${XHTML}>x`],
    ['a tag too many', `<div ${XHTML}>x</div></text>`],
    ['an element after it', `<div ${XHTML}>x</div><active value="true"/>`],
    ['a way out of the element', `<div ${XHTML}></div></text><active value="true"/><text><div ${XHTML}></div>`],
    ['HTML that is no XML', `<div ${XHTML}>a<br>b</div>`],
    ['an HTML entity', `<div ${XHTML}>&nbsp;</div>`],
    ['a bare ampersand', `<div ${XHTML}>a & b</div>`],
    ['an attribute without value', `<div ${XHTML}><input disabled/></div>`],
    ['a DOCTYPE', `<!DOCTYPE div><div ${XHTML}/>`],
    ['an XML declaration', `<?xml version="1.0"?><div ${XHTML}/>`],
    ['a processing instruction', `<div ${XHTML}><?x y?></div>`],
    ['another element', `<p ${XHTML}/>`],
    ['another namespace', '<div xmlns="http://hl7.org/fhir"/>'],
    ['another namespace within', `<div ${XHTML}><svg xmlns="urn:svg"/></div>`],
    ['no namespace within', `<div ${XHTML}><p xmlns=""/></div>`],
    ['an unknown prefix', `<div ${XHTML}><a:b/></div>`],
    ['a control character', `<div ${XHTML}>\u0007</div>`],
    ['half of a surrogate pair', `<div ${XHTML}>\ud83d</div>`],
  ])('%s is refused: the document would break', (_title, div) => {
    try {
      write(div);
    } catch (error) {
      expect(error).toBeInstanceOf(FhirError);
      expect((error as FhirError).status).toBe(406);
      expect((error as FhirError).issues[0].expression).toBe('Patient.text.div');
      return;
    }
    throw new Error('it was written');
  });
});

describe('resources that XML cannot hold', () => {
  it.each<[string, string, Record<string, unknown>]>([
    ['a control character', 'Patient.name[0].family', { name: [{ family: 'a\u0000' }] }],
    ['a character that is none', 'Patient.gender', { gender: '\uffff' }],
    ['half of a surrogate pair', 'Patient.gender', { gender: 'a\udc00b' }],
    ['a control character in an id', 'Patient.name[0].id', { name: [{ id: '\u001b' }] }],
    ['an unknown property', 'Patient', { foo: 1 }],
    ['an unknown sibling', 'Patient', { _foo: { id: 'x' } }],
    ['the sibling of an object', 'Patient.contact[0]', { contact: [{ _name: { id: 'x' } }] }],
    ['a property of Object', 'Patient', { constructor: 1 }],
    ['a number for a string', 'Patient.gender', { gender: 1 }],
    ['a string for a boolean', 'Patient.active', { active: 'true' }],
    ['null', 'Patient.active', { active: null }],
    ['a value that is not repeated', 'Patient', { name: { family: 'x' } }],
    ['a list that may not be one', 'Patient.maritalStatus', { maritalStatus: [{ text: 'x' }] }],
    ['a list of primitives that may not be one', 'Patient.gender', { gender: ['male'] }],
    ['a primitive for an object', 'Patient.name[0]', { name: ['x'] }],
    ['null for an object', 'Patient.name[1]', { name: [{ text: 'x' }, null] }],
    ['nulls on both sides', 'Patient.name[0].given[0]', { name: [{ given: [null], _given: [null] }] }],
    ['no resource in contained', 'Patient.contained[0]', { contained: [{ id: 'x' }] }],
    ['an unknown resource in contained', 'Patient.contained[0]', { contained: [{ resourceType: 'Nobody' }] }],
    ['a type within a datatype', 'Patient.name[0]', { name: [{ resourceType: 'HumanName' }] }],
    ['an extension of a url', 'Patient.extension[0].url', { extension: [{ url: 'u', _url: { id: 'x' } }] }],
    ['a number that is none', 'Patient.multipleBirth', { multipleBirthInteger: Number.NaN }],
  ])('%s is refused, with its place', (_title, expression, members) => {
    try {
      writeXml({ resourceType: 'Patient', ...members } as Resource, tables);
    } catch (error) {
      expect(error).toBeInstanceOf(FhirError);
      expect((error as FhirError).issues).toMatchObject([{ code: 'not-acceptable', expression }]);
      return;
    }
    throw new Error('it was written');
  });
});
