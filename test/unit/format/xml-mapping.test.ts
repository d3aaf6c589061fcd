import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { readJson } from '../../../runtime/format/read-json.js';
import { writeJson } from '../../../runtime/format/write-json.js';
import { readXml } from '../../../runtime/format/xml/read-xml.js';
import { writeXml } from '../../../runtime/format/xml/write-xml.js';

const div = '<div xmlns="http://www.w3.org/1999/xhtml">';
const url = 'http://example.org/x';

/** What stands in the element of the resource, and the members of its JSON, both as text. */
const pairs: readonly (readonly [title: string, type: string, xml: string, json: string])[] = [
  ['a resource without anything', 'Patient', '', ''],
  ['the id of a resource, an element', 'Patient', '<id value="p1"/>', '"id":"p1"'],
  ['a string', 'Patient', '<language value="de"/>', '"language":"de"'],
  [
    'booleans',
    'Patient',
    '<active value="true"/><deceasedBoolean value="false"/>',
    '"active":true,"deceasedBoolean":false',
  ],
  ['an integer', 'Patient', '<multipleBirthInteger value="2"/>', '"multipleBirthInteger":2'],
  [
    'a decimal that a double keeps',
    'Observation',
    '<valueQuantity><value value="-1.5"/></valueQuantity>',
    '"valueQuantity":{"value":-1.5}',
  ],
  [
    'a decimal with trailing zeros',
    'Observation',
    '<valueQuantity><value value="1.50"/></valueQuantity>',
    '"valueQuantity":{"value":1.50}',
  ],
  [
    'a decimal with exponent',
    'Observation',
    '<valueQuantity><value value="1e3"/></valueQuantity>',
    '"valueQuantity":{"value":1e3}',
  ],
  [
    'a decimal with more digits than a double',
    'Observation',
    '<valueQuantity><value value="66.899999999999991"/></valueQuantity>',
    '"valueQuantity":{"value":66.899999999999991}',
  ],
  [
    'an integer64, a string in JSON',
    'Parameters',
    '<parameter><name value="a"/><valueInteger64 value="9007199254740993"/></parameter>',
    '"parameter":[{"name":"a","valueInteger64":"9007199254740993"}]',
  ],
  [
    'a list, of one too',
    'Patient',
    '<name><given value="A"/><given value="B"/></name>',
    '"name":[{"given":["A","B"]}]',
  ],
  [
    'a backbone element',
    'Patient',
    '<link><other><reference value="Patient/1"/></other><type value="refer"/></link>',
    '"link":[{"other":{"reference":"Patient/1"},"type":"refer"}]',
  ],
  [
    'an element of recursive type',
    'Parameters',
    '<parameter><name value="a"/><part><name value="b"/><part><name value="c"/></part></part></parameter>',
    '"parameter":[{"name":"a","part":[{"name":"b","part":[{"name":"c"}]}]}]',
  ],
  [
    'the id of an element, an attribute',
    'Patient',
    '<name id="n1"><family value="F"/></name>',
    '"name":[{"id":"n1","family":"F"}]',
  ],
  [
    'an extension with its url',
    'Patient',
    `<extension url="${url}"><valueCode value="c"/></extension>`,
    `"extension":[{"url":"${url}","valueCode":"c"}]`,
  ],
  [
    'an extension with id and extensions',
    'Patient',
    `<extension id="e" url="${url}"><extension url="a"><valueString value="s"/></extension></extension>`,
    `"extension":[{"id":"e","url":"${url}","extension":[{"url":"a","valueString":"s"}]}]`,
  ],
  ['a primitive with id', 'Patient', '<birthDate value="2000" id="b"/>', '"birthDate":"2000","_birthDate":{"id":"b"}'],
  [
    'a primitive with extension',
    'Patient',
    `<birthDate value="2000"><extension url="${url}"><valueTime value="10:00:00"/></extension></birthDate>`,
    `"birthDate":"2000","_birthDate":{"extension":[{"url":"${url}","valueTime":"10:00:00"}]}`,
  ],
  [
    'a primitive without value',
    'Patient',
    `<active><extension url="${url}"><valueCode value="x"/></extension></active>`,
    `"_active":{"extension":[{"url":"${url}","valueCode":"x"}]}`,
  ],
  [
    'a list of primitives, one with id',
    'Patient',
    '<name><given value="A"/><given value="B" id="b"/><given value="C"/></name>',
    '"name":[{"given":["A","B","C"],"_given":[null,{"id":"b"},null]}]',
  ],
  [
    'a list of primitives, one without value',
    'Patient',
    `<name><given value="A"/><given><extension url="u"><valueCode value="x"/></extension></given></name>`,
    '"name":[{"given":["A",null],"_given":[null,{"extension":[{"url":"u","valueCode":"x"}]}]}]',
  ],
  [
    'a list of primitives, none with value',
    'Patient',
    '<name><given id="a"><extension url="u"><valueCode value="x"/></extension></given></name>',
    '"name":[{"_given":[{"id":"a","extension":[{"url":"u","valueCode":"x"}]}]}]',
  ],
  [
    'a contained resource',
    'Patient',
    '<contained><Organization><id value="o"/></Organization></contained><contained><Basic/></contained>',
    '"contained":[{"resourceType":"Organization","id":"o"},{"resourceType":"Basic"}]',
  ],
  [
    'entries of a Bundle',
    'Bundle',
    '<type value="collection"/><entry><fullUrl value="urn:a"/><resource><Patient><active value="true"/></Patient></resource></entry>',
    '"type":"collection","entry":[{"fullUrl":"urn:a","resource":{"resourceType":"Patient","active":true}}]',
  ],
  [
    'a resource in Parameters',
    'Parameters',
    '<parameter><name value="r"/><resource><Parameters/></resource></parameter>',
    '"parameter":[{"name":"r","resource":{"resourceType":"Parameters"}}]',
  ],
  [
    'a narrative',
    'Patient',
    `<text><status value="generated"/>${div}a <b>b</b>\n&amp;&#160;<br/></div></text>`,
    `"text":{"status":"generated","div":${JSON.stringify(`${div}a <b>b</b>\n&amp;&#160;<br/></div>`)}}`,
  ],
  [
    'characters that XML has escapes for',
    'Patient',
    '<language value="&amp;&lt;&gt;&quot;\'"/>',
    '"language":"&<>\\"\'"',
  ],
  [
    'white space in values',
    'Patient',
    '<name><family value=" a&#9;b&#10;c&#13;d "/></name>',
    '"name":[{"family":" a\\tb\\nc\\rd "}]',
  ],
  ['characters beyond the first plane', 'Patient', '<language value="😀ä\u2028"/>', '"language":"😀ä\u2028"'],
];

describe('XML and JSON of the same resource (xml.html, json.html)', () => {
  it.each(pairs)('%s', (_title, type, inner, members) => {
    const start = `<?xml version="1.0" encoding="UTF-8"?><${type} xmlns="http://hl7.org/fhir"`;
    const xml = inner === '' ? `${start}/>` : `${start}>${inner}</${type}>`;
    const json = `{"resourceType":"${type}"${members && ','}${members}}`;
    const resource = readJson(json) as Resource;
    expect(writeXml(resource, tables)).toBe(xml);
    expect(writeJson(readXml(xml, tables))).toBe(json);
    expect(readXml(Buffer.from(xml), tables)).toEqual(resource);
    expect(readXml(writeXml(resource, tables, { pretty: true }), tables)).toEqual(resource);
  });
});

describe('reading XML that others write', () => {
  const patient = { resourceType: 'Patient', active: true };

  it.each([
    ['a byte order mark', '\ufeff<Patient xmlns="http://hl7.org/fhir"><active value="true"/></Patient>'],
    [
      'no declaration, other quotes, white space',
      `<Patient\n  xmlns = 'http://hl7.org/fhir' >\r\n\t<active value='true' ></active >\n</Patient >\n`,
    ],
    ['a prefix', '<f:Patient xmlns:f="http://hl7.org/fhir"><f:active value="true"/></f:Patient>'],
    [
      'comments',
      '<!-- a --><Patient xmlns="http://hl7.org/fhir"><!-- b --><active value="true"><!-- c --></active></Patient><!-- d -->',
    ],
    [
      'the name of a schema',
      '<Patient xmlns="http://hl7.org/fhir" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://hl7.org/fhir ../patient.xsd"><active value="true"/></Patient>',
    ],
    ['character references', '<Patient xmlns="http://hl7.org/fhir"><active value="&#x74;r&#117;e"/></Patient>'],
    [
      'an encoding in lower case',
      '<?xml version="1.0" encoding="utf-8" standalone="yes"?><Patient xmlns="http://hl7.org/fhir"><active value="true"/></Patient>',
    ],
  ])('%s', (_title, xml) => {
    expect(readXml(xml, tables)).toEqual(patient);
  });

  it('elements in any order where that is asked for, as long as those of one name stand together', () => {
    const xml =
      '<Patient xmlns="http://hl7.org/fhir"><gender value="male"/><name><given value="A"/></name><id value="1"/></Patient>';
    expect(readXml(xml, tables, { anyOrder: true })).toEqual({
      resourceType: 'Patient',
      gender: 'male',
      name: [{ given: ['A'] }],
      id: '1',
    });
  });

  it('an integer with a plus sign', () => {
    const xml = '<Patient xmlns="http://hl7.org/fhir"><multipleBirthInteger value="+2"/></Patient>';
    expect(readXml(xml, tables)).toEqual({ resourceType: 'Patient', multipleBirthInteger: 2 });
  });

  it('no plus sign before a positiveInt or unsignedInt: their patterns have none (fhir-single.xsd)', () => {
    const photo = (value: string) =>
      `<Patient xmlns="http://hl7.org/fhir"><photo><url value="urn:a"/><height value="${value}"/></photo></Patient>`;
    expect(readXml(photo('2'), tables)).toMatchObject({ photo: [{ height: 2 }] });
    expect(() => readXml(photo('+2'), tables)).toThrow('positiveInt');
  });

  it('white space around values counts in strings alone (xml.html)', () => {
    const xml =
      '<Patient xmlns="http://hl7.org/fhir"><active value=" true&#10;"/><name><family value=" A "/></name>' +
      '<gender value="male "/><birthDate value=" 2020-01-01"/></Patient>';
    expect(readXml(xml, tables)).toEqual({
      resourceType: 'Patient',
      active: true,
      name: [{ family: ' A ' }],
      gender: 'male',
      birthDate: '2020-01-01',
    });
  });

  it('R05: processing instructions are skipped before the root, within it and after it', () => {
    const xml =
      '<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="a.xsl"?><?xml-model href="b"?>' +
      '<Patient xmlns="http://hl7.org/fhir"><?a?><active value="true"/><?b c?></Patient><?d <e f="g"/>?>\n';
    expect(readXml(xml, tables)).toEqual({ resourceType: 'Patient', active: true });
  });

  it('line feeds in values are spaces, as XML says', () => {
    expect(readXml('<Patient xmlns="http://hl7.org/fhir"><language value="a\r\nb\tc"/></Patient>', tables)).toEqual({
      resourceType: 'Patient',
      language: 'a b c',
    });
  });
});

describe('writing XML', () => {
  it('puts elements in their order, whatever the order in JSON (xml.html)', () => {
    const resource: Resource = {
      resourceType: 'Patient',
      _birthDate: { id: 'b' },
      name: [{ family: 'F', extension: [{ valueCode: 'c', url: 'u' }], id: 'n' }],
      text: { div: `${div}x</div>`, status: 'empty' },
      id: '1',
      birthDate: '2000',
      active: true,
    };
    expect(writeXml(resource, tables)).toBe(
      '<?xml version="1.0" encoding="UTF-8"?><Patient xmlns="http://hl7.org/fhir"><id value="1"/>' +
        `<text><status value="empty"/>${div}x</div></text><active value="true"/>` +
        '<name id="n"><extension url="u"><valueCode value="c"/></extension><family value="F"/></name>' +
        '<birthDate value="2000" id="b"/></Patient>',
    );
  });

  it('indents when asked, but not within narratives', () => {
    const resource: Resource = {
      resourceType: 'Patient',
      text: { status: 'generated', div: `${div}\n<p/></div>` },
      contained: [{ resourceType: 'Basic' }],
      name: [{ given: ['A'] }],
    };
    expect(writeXml(resource, tables, { pretty: true })).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<Patient xmlns="http://hl7.org/fhir">
  <text>
    <status value="generated"/>
    ${div}
<p/></div>
  </text>
  <contained>
    <Basic/>
  </contained>
  <name>
    <given value="A"/>
  </name>
</Patient>
`);
  });

  it('leaves the resource as it is', () => {
    const resource = Object.freeze({ resourceType: 'Patient', name: Object.freeze([Object.freeze({ family: 'F' })]) });
    expect(() => writeXml(resource as unknown as Resource, tables)).not.toThrow();
  });
});
