import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { errorOutcome } from '../../../runtime/fhir/operation-outcome.js';
import { FhirError, type Issue } from '../../../runtime/fhir/errors.js';
import { readXml, type XmlLimits } from '../../../runtime/format/xml/read-xml.js';
import { XML_CODES, type XmlFault } from '../../../runtime/format/xml/xml-error.js';

function issuesOf(xml: string | Uint8Array, limits?: XmlLimits): readonly Issue[] {
  try {
    readXml(xml, tables, limits);
  } catch (error) {
    if (error instanceof FhirError) return error.issues;
    throw error;
  }
  throw new Error('nothing was refused');
}

/** A Patient with this in it, from line 2 on. */
const patient = (inner: string): string => `<Patient xmlns="http://hl7.org/fhir">\n${inner}\n</Patient>`;

describe('faults in content, each with place and FHIRPath', () => {
  it.each<[string, string, number, number, string, string]>([
    ['an unknown element', ' <foo value="1"/>', 2, 2, 'Patient.foo', 'Patient has no element "foo"'],
    [
      'an element in the wrong case',
      '<birthdate value="2000"/>',
      2,
      1,
      'Patient.birthdate',
      'did you mean "birthDate"',
    ],
    ['a misspelt element', '<brithDate value="2000"/>', 2, 1, 'Patient.brithDate', 'did you mean "birthDate"'],
    [
      'a choice without its type',
      '<deceased value="true"/>',
      2,
      1,
      'Patient.deceased',
      '"deceasedBoolean", "deceasedDateTime"',
    ],
    [
      'an unknown element within',
      '<name><given value="a"/></name>\n<name><x/></name>',
      3,
      7,
      'Patient.name[1].x',
      'HumanName has no element "x"',
    ],
    [
      'an element of a contained resource',
      '<contained><Basic><x/></Basic></contained>',
      2,
      19,
      'Patient.contained[0].x',
      'Basic has no',
    ],
    ['an unknown attribute', '<name use="x"/>', 2, 1, 'Patient.name[0].use', 'HumanName has no attribute "use"'],
    [
      'an unknown attribute of a primitive',
      '<active val="true"/>',
      2,
      1,
      'Patient.active.val',
      'boolean has no attribute "val"',
    ],
    ['a value on an element that has none', '<name value="x"/>', 2, 1, 'Patient.name[0].value', 'no attribute "value"'],
    ['an attribute of a namespace', '<name xml:lang="de"/>', 2, 1, 'Patient.name[0]', 'no attribute "xml:lang"'],
    [
      'an attribute on contained',
      '<contained id="c"><Basic/></contained>',
      2,
      1,
      'Patient.contained[0].id',
      'no attribute "id"',
    ],
    [
      'a url as an element',
      '<extension url="u"><url value="u"/></extension>',
      2,
      20,
      'Patient.extension[0].url',
      '"url" is an attribute',
    ],
    ['text', '<active>\n true</active>', 3, 2, 'Patient.active', 'there is text'],
    ['text after an element', '<active value="true"/> x', 2, 24, 'Patient', 'there is text'],
    ['text in CDATA', '<name><![CDATA[x]]></name>', 2, 7, 'Patient.name[0]', 'there is text'],
    [
      'a wrong namespace',
      '<active xmlns="http://x.org" value="true"/>',
      2,
      1,
      'Patient.active',
      'namespace http://hl7.org/fhir, not in http://x.org',
    ],
    [
      'a narrative without its namespace',
      '<text><status value="empty"/><div>x</div></text>',
      2,
      30,
      'Patient.text.div',
      'http://www.w3.org/1999/xhtml, not in http://hl7.org/fhir',
    ],
    [
      'another namespace in a narrative',
      '<text><div xmlns="http://www.w3.org/1999/xhtml"><svg xmlns="urn:s"><a/></svg></div></text>',
      2,
      49,
      'Patient.text.div',
      'elements of http://www.w3.org/1999/xhtml only',
    ],
    [
      'an attribute of a namespace in a narrative',
      '<text><div xmlns="http://www.w3.org/1999/xhtml" xmlns:x="urn:x" x:y="1"/></text>',
      2,
      7,
      'Patient.text.div',
      'no attributes of other namespaces',
    ],
    [
      'a narrative that is no div',
      '<text><p xmlns="http://www.w3.org/1999/xhtml"/></text>',
      2,
      7,
      'Patient.text.p',
      '"p" has to be in the namespace',
    ],
    ['a boolean that is none', '<active value="1"/>', 2, 1, 'Patient.active', 'is no boolean: "1"'],
    ['a boolean with space in it', '<active value="tr ue"/>', 2, 1, 'Patient.active', 'is no boolean: "tr ue"'],
    [
      'an integer that is none',
      '<multipleBirthInteger value="two"/>',
      2,
      1,
      'Patient.multipleBirth',
      'is no integer: "two"',
    ],
    [
      'a number in another notation',
      '<multipleBirthInteger value="0x10"/>',
      2,
      1,
      'Patient.multipleBirth',
      'is no integer',
    ],
    ['a number with two signs', '<multipleBirthInteger value="+-1"/>', 2, 1, 'Patient.multipleBirth', 'is no integer'],
    ['an empty value', '<gender value=""/>', 2, 1, 'Patient.gender', '"value" is empty'],
    ['an empty id', '<name id=""><family value="F"/></name>', 2, 1, 'Patient.name[0].id', '"id" is empty'],
    ['an empty element', '<name>\n <!-- nothing --></name>', 2, 1, 'Patient.name[0]', 'needs a value or children'],
    ['an empty primitive', '<active/>', 2, 1, 'Patient.active', 'needs a value or children'],
    ['contained without a resource', '<contained/>', 2, 1, 'Patient.contained[0]', 'needs a value or children'],
    [
      'two resources in one element',
      '<contained><Basic/><Basic/></contained>',
      2,
      20,
      'Patient.contained[0]',
      'only one resource',
    ],
    ['an element twice', '<active value="true"/>\n<active value="true"/>', 3, 1, 'Patient.active', 'only once'],
    [
      'elements of one name apart',
      '<name id="a"/>\n<gender value="male"/><name id="b"/>',
      3,
      23,
      'Patient.name',
      'have to be together',
    ],
    ['a name too strange to be repeated', '<ä.b/>', 2, 1, 'Patient', 'no element "ä.b"'],
  ])('%s', (_title, inner, line, column, expression, text) => {
    const issues = issuesOf(patient(inner));
    expect(issues).toHaveLength(1);
    expect(issues[0]).toMatchObject({ code: XML_CODES.content, expression });
    expect(issues[0]!.text).toContain(`Line ${line}, column ${column}: `);
    expect(issues[0]!.text).toContain(text);
  });

  it.each([
    ['an unknown type in contained', patient('<contained><Nobody/></contained>'), 2, 12, 'Patient.contained[0]'],
    ['an abstract type', '<DomainResource xmlns="http://hl7.org/fhir"/>', 1, 1, undefined],
    ['a datatype', '<HumanName xmlns="http://hl7.org/fhir"/>', 1, 1, undefined],
    ['something else', '<html xmlns="http://hl7.org/fhir"/>', 1, 1, undefined],
  ])('%s is no resource', (_title, xml, line, column, expression) => {
    const issues = issuesOf(xml);
    expect(issues.map(({ code }) => code)).toEqual([XML_CODES.notResource]);
    expect(issues[0]!.expression).toBe(expression);
    expect(issues[0]!.text).toContain(`Line ${line}, column ${column}: there is no resource type`);
  });

  it('a document without namespace says which is missing', () => {
    expect(issuesOf('<Patient><active value="true"/></Patient>')).toEqual([
      {
        code: XML_CODES.content,
        text: 'Line 1, column 1: a resource is in the namespace http://hl7.org/fhir, "Patient" in none',
      },
    ]);
  });

  it('all of them are told, in order, as one outcome', () => {
    const xml = patient('<foo/>\n<active value="x"/>\n<name><bar><baz/></bar></name>\n<gender value=""/>');
    const issues = issuesOf(xml);
    expect(issues.map(({ expression }) => expression)).toEqual([
      'Patient.foo',
      'Patient.active',
      'Patient.name[0].bar',
      'Patient.gender',
    ]);
    try {
      readXml(xml, tables);
    } catch (error) {
      expect(errorOutcome(error as FhirError)['issue']).toHaveLength(4);
      expect((error as FhirError).status).toBe(400);
    }
  });

  it('those before the end of a document that is not well-formed are told too', () => {
    const issues = issuesOf('<Patient xmlns="http://hl7.org/fhir"><foo/>');
    expect(issues.map(({ text }) => text)).toEqual([
      'Line 1, column 38: Patient has no element "foo"',
      expect.stringContaining('unclosed tag: Patient') as string,
    ]);
  });

  it('no more than are asked for', () => {
    const xml = patient('<foo/>'.repeat(1000));
    expect(issuesOf(xml)).toHaveLength(100);
    expect(issuesOf(xml, { maxIssues: 3 })).toHaveLength(3);
  });
});

describe('documents that are refused as a whole', () => {
  it.each<[string, string, XmlFault, string]>([
    ['no text', '', 'syntax', 'Line 1, column 1: there is no element'],
    ['JSON', '{"resourceType":"Patient"}', 'syntax', 'Line 1, column 1: this is not XML'],
    ['an open tag', '<Patient xmlns="http://hl7.org/fhir">\n <name>', 'syntax', 'unclosed tag: name'],
    [
      'tags that do not match',
      '<Patient xmlns="http://hl7.org/fhir">\n<name id="a"></nam></Patient>',
      'syntax',
      'Line 2, column 19: unexpected close tag',
    ],
    [
      'an attribute twice',
      '<Patient xmlns="http://hl7.org/fhir"><active value="true" value="true"/></Patient>',
      'syntax',
      'duplicate attribute: value',
    ],
    ['an attribute without quotes', '<Patient xmlns=x/>', 'syntax', 'unquoted attribute value'],
    ['an unknown prefix', '<f:Patient/>', 'syntax', 'unbound namespace prefix'],
    ['two roots', '<Patient xmlns="http://hl7.org/fhir"/><a/>', 'syntax', 'only one root'],
    ['an unknown entity', patient('<gender value="&nbsp;"/>'), 'syntax', 'undefined entity'],
    ['a control character', patient('<gender value="\u0001"/>'), 'syntax', 'Line 2, column 16: disallowed character'],
    ['a control character as reference', patient('<gender value="&#1;"/>'), 'syntax', 'malformed character entity'],
    [
      'half of a surrogate pair',
      patient('<gender value="\ud800"/>'),
      'syntax',
      'Line 2, column 16: half of a surrogate pair',
    ],
    [
      'half of a surrogate pair before a tag',
      patient('<gender value="x"/>\ud800<a/>'),
      'syntax',
      'half of a surrogate pair',
    ],
    ['XML 1.1', '<?xml version="1.1"?><Patient xmlns="http://hl7.org/fhir"/>', 'syntax', 'version 1.0, not 1.1'],
    [
      'another encoding',
      '<?xml version="1.0" encoding="ISO-8859-1"?><Patient xmlns="http://hl7.org/fhir"/>',
      'syntax',
      'UTF-8, not ISO-8859-1',
    ],
    [
      'a DOCTYPE',
      '<!DOCTYPE Patient><Patient xmlns="http://hl7.org/fhir"/>',
      'forbidden',
      'Line 1, column 18: a DOCTYPE is not allowed',
    ],
    [
      'a processing instruction in a narrative',
      patient('<text><status value="empty"/><div xmlns="http://www.w3.org/1999/xhtml"><?php x ?></div></text>'),
      'forbidden',
      'processing instructions',
    ],
    ['a second XML declaration', patient('<?xml version="1.0"?>'), 'syntax', 'at the start of the document'],
  ])('%s', (_title, xml, fault, text) => {
    const issues = issuesOf(xml);
    expect(issues).toHaveLength(1);
    expect(issues[0]!.code).toBe(XML_CODES[fault]);
    expect(issues[0]!.text).toContain(text);
    expect(issues[0]!.text.length).toBeLessThan(300);
  });

  it('bytes that are not UTF-8', () => {
    expect(issuesOf(Buffer.from(patient('<gender value="ä"/>'), 'latin1'))[0]!.text).toContain('Line 2, byte 16');
    expect(issuesOf(Buffer.from(`\ufeff${patient('')}`, 'utf16le'))[0]!.text).toContain('Line 1, byte 1');
  });
});
