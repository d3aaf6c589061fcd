import { right, wrong, xml, type HardCase } from './hard-case.js';

const FHIR = 'xmlns="http://hl7.org/fhir"';
const all: Partial<HardCase> = { isXml: true, type: 'Patient' };
const ok = (name: string, body: string): HardCase => right(name, body, all);
const no = (name: string, body: string, more: Partial<HardCase> = {}): HardCase =>
  wrong(name, body, { ...all, ...more });

/** https://hl7.org/fhir/R5/xml.html, https://www.w3.org/TR/xml/ */
export const XML_CASES: readonly HardCase[] = [
  ok('declaration, comments, instructions', `<?xml version="1.0" encoding="UTF-8"?><!-- a --><?a b?>${xml('<!-- x --><active value="true"/>')}<!-- z -->`), // prettier-ignore
  ok('a prefix', '<f:Patient xmlns:f="http://hl7.org/fhir"><f:active value="true"/></f:Patient>'),
  ok('single quotes and character references', xml("<name><family value='a&#38;b&#x41;&quot;'/></name>")),
  ok('white space around a boolean', xml('<active value=" true "/>')),
  ok('id as an attribute', xml('<name id="a"><family value="x"/></name>')),
  ok('an extension with its url as an attribute', xml('<extension url="u:x"><valueCode value="x"/></extension>')),
  ok('only extensions', xml('<birthDate><extension url="u:x"><valueCode value="x"/></extension></birthDate>')),
  ok('a contained resource', xml('<contained><Organization><id value="o"/><name value="x"/></Organization></contained><managingOrganization><reference value="#o"/></managingOrganization>')), // prettier-ignore
  ok('an empty root: no element is required', xml('')),
  no('no namespace', xml('<active value="true"/>', '')),
  no('another namespace', xml('<active value="true"/>', 'xmlns="http://hl7.org/fhir/v2"')),
  no('an element of no namespace', xml('<active xmlns="" value="true"/>')),
  no('an element that there is not', xml('<colour value="x"/>')),
  no('an attribute that there is not', xml('<active value="true" unit="x"/>')),
  no('an attribute on the root', xml('<active value="true"/>', `${FHIR} a="b"`)),
  no('text between elements', xml('abc<active value="true"/>')),
  no('text within a primitive', xml('<active>true</active>')),
  no('CDATA between elements', xml('<![CDATA[abc]]>')),
  no('an empty value', xml('<active value=""/>')),
  no('no value', xml('<active/>')),
  no('an element without content', xml('<name/>')),
  no('elements in another order', xml('<gender value="male"/><active value="true"/>')),
  no('an element of a data type in another order', xml('<name><given value="x"/><family value="x"/></name>')),
  no('a single element twice', xml('<active value="true"/><active value="true"/>')),
  no('a list that is interrupted', xml('<name><family value="a"/></name><gender value="male"/><name><family value="b"/></name>')), // prettier-ignore
  no('DOCTYPE', `<!DOCTYPE Patient>${xml('<active value="true"/>')}`),
  no('an entity', `<!DOCTYPE Patient [<!ENTITY a "x">]>${xml('<name><family value="&a;"/></name>')}`),
  no('an entity of HTML', xml('<name><family value="a&nbsp;b"/></name>')),
  no('two roots', xml('') + xml('')),
  no('an end that is missing', `<Patient ${FHIR}><active value="true"/>`),
  no('a wrong end', `<Patient ${FHIR}><active value="true"></Patient>`),
  no('an attribute twice', xml('<active value="true" value="true"/>')),
  no('an attribute without quotes', xml('<active value=true/>')),
  no('a bare ampersand', xml('<name><family value="a & b"/></name>')),
  no('a bare less-than in a value', xml('<name><family value="a<b"/></name>')),
  no('a character that XML does not have', xml('<name><family value="&#1;"/></name>')),
  no('boolean 1', xml('<active value="1"/>')),
  no('boolean TRUE', xml('<active value="TRUE"/>')),
  no('integer +1', xml('<multipleBirthInteger value="1.0"/>')),
  no('a date with white space within', xml('<birthDate value="2024 -01"/>')),
  no('a data type as the root', `<HumanName ${FHIR}><family value="x"/></HumanName>`),
  no('two resources in one contained', xml('<contained><Organization><id value="o"/></Organization><Organization><id value="p"/></Organization></contained>')), // prettier-ignore
  no('an empty contained', xml('<contained/>')),
  no('an extension without url', xml('<extension><valueCode value="x"/></extension>')),
  no('an extension with its url as an element', xml('<extension><url value="u:x"/><valueCode value="x"/></extension>')),
  no('value on a complex element', xml('<name value="x"/>')),
  no('a choice without type', xml('<deceased value="true"/>')),
  no('a div outside the namespace of XHTML', xml('<text><status value="generated"/><div>x</div></text>')),
  ok('a div of XHTML', xml('<text><status value="generated"/><div xmlns="http://www.w3.org/1999/xhtml"><p>a<br/>b</p></div></text>')), // prettier-ignore
  no('a processing instruction in the div', xml('<text><status value="generated"/><div xmlns="http://www.w3.org/1999/xhtml"><?x y?>a</div></text>')), // prettier-ignore
  no('nothing', ' '),
  no('JSON', '{"resourceType":"Patient"}'),
  no('a byte order mark within', xml('\ufeff<active value="true"/>')),
];
