import { patient, right, wrong, xml, type HardCase } from './hard-case.js';

const NS = 'xmlns="http://www.w3.org/1999/xhtml"';
const FHIR = 'xmlns="http://hl7.org/fhir"';
const inside = (html: string): object => patient({ text: { status: 'generated', div: `<div ${NS}>${html}</div>` } });
const div = (html: string): object => ({ status: 'generated', div: `<div ${NS}>${html}</div>` });

const NARRATIVES: Readonly<Record<string, string>> = {
  'a script in capitals': '<SCRIPT>x</SCRIPT>a',
  'an event that is new': '<p onpointerdown="x()">a</p>',
  'an event in capitals': '<p ONCLICK="x()">a</p>',
  'a link to a script, with a space': '<a href=" javascript:alert(1)">a</a>',
  'a link to a script, in mixed letters': '<a href="JaVaScRiPt:alert(1)">a</a>',
  'a link to a script, with a tab': '<a href="java&#9;script:alert(1)">a</a>',
  'a link to VBScript': '<a href="vbscript:x">a</a>',
  'a picture of a script': '<img src="javascript:alert(1)" alt="x"/>a',
  embed: '<embed src="x"/>a',
  video: '<video src="x"></video>a',
  button: '<button>a</button>',
  select: '<select><option>a</option></select>',
  textarea: '<textarea>a</textarea>',
  frameset: '<frameset><frame src="x"/></frameset>a',
  noscript: '<noscript>a</noscript>',
  math: '<math xmlns="http://www.w3.org/1998/Math/MathML"><mi>x</mi></math>',
  'an element of another namespace': '<x:p xmlns:x="u:x">a</x:p>',
  'an element of no namespace': '<p xmlns="">a</p>',
  'an attribute in capitals': '<p CLASS="a">b</p>',
  'an entity that nobody knows': 'a&foo;b',
  'an entity of HTML, é': 'a&eacute;b',
  'an instruction': '<?php x ?>a',
  'a comment alone': '<!-- x -->',
  'a break alone': '<br/>',
  'a table without text': '<table><tr><td/></tr></table>',
  'a comment that is none': '<!-- a -- b -->c',
  'a tag that closes twice': '<p>a</p></p>',
  'a space before a name': '< p>a</p>',
  'a null character': 'a&#0;b',
};

const ELSEWHERE: readonly HardCase[] = [
  wrong('a script in a contained resource', patient({ contained: [{ resourceType: 'Organization', id: 'o', name: 'x', text: div('<script>x</script>a') }], managingOrganization: { reference: '#o' } })), // prettier-ignore
  wrong('a script in an entry', { resourceType: 'Bundle', type: 'collection', entry: [{ fullUrl: 'urn:uuid:61ebe359-bfdc-4613-8bf2-c5e300945f0a', resource: { resourceType: 'Patient', text: div('<script>x</script>a') } }] }), // prettier-ignore
  wrong('a script in a section', { resourceType: 'Composition', status: 'final', type: { text: 'x' }, date: '2024', title: 'x', author: [{ display: 'x' }], section: [{ title: 'x', text: div('<script>x</script>a') }] }), // prettier-ignore
  wrong('an empty section', { resourceType: 'Composition', status: 'final', type: { text: 'x' }, date: '2024', title: 'x', author: [{ display: 'x' }], section: [{ title: 'x', text: div(' ') }] }), // prettier-ignore
  wrong('DIV', patient({ text: { status: 'generated', div: `<DIV ${NS}>a</DIV>` } })),
  wrong('white space before the div', patient({ text: { status: 'generated', div: 'x <div>a</div>' } })),
];

const xmlAll: Partial<HardCase> = { isXml: true, type: 'Patient' };
const ok = (name: string, body: string): HardCase => right(name, body, xmlAll);
const no = (name: string, body: string): HardCase => wrong(name, body, xmlAll);
const active = '<active value="true"/>';

/** https://www.w3.org/TR/xml/, https://hl7.org/fhir/R5/xml.html */
const XML: readonly HardCase[] = [
  no('XML 1.1', `<?xml version="1.1"?>${xml(active)}`),
  no('another encoding', `<?xml version="1.0" encoding="ISO-8859-1"?>${xml(active)}`),
  no('white space before the declaration', ` <?xml version="1.0"?>${xml(active)}`),
  no('a declaration within', xml(`<?xml version="1.0"?>${active}`)),
  no('text before the root', `x${xml(active)}`),
  no('text after the root', `${xml(active)}x`),
  no('a prefix that is not declared', xml('<x:active value="true"/>')),
  no('a prefix at an attribute', xml('<active f:value="true"/>', `${FHIR} xmlns:f="http://hl7.org/fhir"`)),
  no('xml:lang', xml('<active xml:lang="de" value="true"/>')),
  no('xsi:type', xml('<active xsi:type="boolean" value="true"/>', `${FHIR} xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"`)), // prettier-ignore
  no('xsi:nil', xml('<active xsi:nil="true"/>', `${FHIR} xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"`)),
  no('the namespace twice', xml(active, `${FHIR} ${FHIR}`)),
  ok('id and value', xml('<active id="a" value="true"/>')),
  ok('value and extension', xml('<birthDate value="2024"><extension url="u:x"><valueCode value="a"/></extension></birthDate>')), // prettier-ignore
  wrong('an id alone', xml('<name id="a"/>'), { ...xmlAll, isCreated: true }),
  no('an id alone at a primitive', xml('<active id="a"/>')),
  no('an empty id', xml('<name id=""><family value="x"/></name>')),
  no('text beside a value', xml('<birthDate value="2024">x</birthDate>')),
  no('a child of a primitive that is no extension', xml('<birthDate value="2024"><month value="1"/></birthDate>')),
  no('a modifier extension of a primitive', xml('<birthDate value="2024"><modifierExtension url="u:x"><valueCode value="a"/></modifierExtension></birthDate>')), // prettier-ignore
  no('the id of a resource as an attribute', xml(active, `${FHIR} id="a"`)),
  no('the id of a resource twice', xml('<id value="a"/><id value="b"/>')),
  no('the id of an element as an element', xml('<name><id value="a"/><family value="x"/></name>')),
  no('an extension with an empty url', xml('<extension url=""><valueCode value="a"/></extension>')),
  no('an extension with two values', xml('<extension url="u:x"><valueCode value="a"/><valueString value="a"/></extension>')), // prettier-ignore
  no('two types of a choice', xml('<deceasedBoolean value="true"/><deceasedDateTime value="2024"/>')),
  no('meta behind text', xml('<text><status value="empty"/><div xmlns="http://www.w3.org/1999/xhtml">a</div></text><meta><source value="u:a"/></meta>')), // prettier-ignore
  no('a div before its status', xml('<text><div xmlns="http://www.w3.org/1999/xhtml">a</div><status value="generated"/></text>')), // prettier-ignore
  no('an extension behind an element', xml('<active value="true"/><extension url="u:x"><valueCode value="a"/></extension>')), // prettier-ignore
  no('the order within a contained resource', xml('<contained><Organization><name value="x"/><id value="o"/></Organization></contained><managingOrganization><reference value="#o"/></managingOrganization>')), // prettier-ignore
  ok('a list of two before another element', xml('<name><family value="a"/></name><name><family value="b"/></name><gender value="male"/>')), // prettier-ignore
  no('two bare hyphens in a comment', xml(`<!-- a -- b -->${active}`)),
  no('the end of CDATA in text', xml(`]]>${active}`)),
  no('half of a surrogate pair', xml('<name><family value="&#xD800;"/></name>')),
  no('an entity that nobody declared', xml('<name><family value="&foo;"/></name>')),
  no('an ampersand without name', xml('<name><family value="&;"/></name>')),
  no('capital letters', xml('<Active value="true"/>')),
  no('tags across', xml('<name><period></name></period>')),
  no('a tag that is not closed', xml('<active value="true"')),
  no('a space before a name', xml('< active value="true"/>')),
  no('no space between attributes', xml('<active id="a"value="true"/>')),
  no('a name that begins with a digit', xml('<1a value="true"/>')),
  no('a script in the div', xml('<text><status value="generated"/><div xmlns="http://www.w3.org/1999/xhtml"><script>x</script>a</div></text>')), // prettier-ignore
  no('an empty div', xml('<text><status value="generated"/><div xmlns="http://www.w3.org/1999/xhtml"> </div></text>')),
  no('an entity of HTML in the div', xml('<text><status value="generated"/><div xmlns="http://www.w3.org/1999/xhtml">a&nbsp;</div></text>')), // prettier-ignore
  no('a contained resource of another namespace', xml('<contained><Organization xmlns="u:x"><id value="o"/></Organization></contained><managingOrganization><reference value="#o"/></managingOrganization>')), // prettier-ignore
  no('text in contained', xml('<contained>x<Organization><id value="o"/><name value="x"/></Organization></contained><managingOrganization><reference value="#o"/></managingOrganization>')), // prettier-ignore
  no('a decimal with a comma', xml('<extension url="u:x"><valueDecimal value="1,5"/></extension>')),
  no('an integer with a point', xml('<multipleBirthInteger value="2.0"/>')),
  ok('a decimal with its digits', xml('<extension url="u:x"><valueDecimal value="1.500"/></extension>')),
];

const UUID = 'urn:uuid:61ebe359-bfdc-4613-8bf2-c5e300945f0a';
const OTHER = 'urn:uuid:88f151c0-a954-468a-88bd-5ae15c08e059';
const org = (id: string, more: object = {}): object => ({ resourceType: 'Organization', id, name: 'x', ...more });
const managed = (reference: string, ...contained: object[]): object =>
  patient({ ...(contained.length > 0 && { contained }), managingOrganization: { reference } });
const bundle = (type: string, entry: readonly object[], more: object = {}): object => ({ resourceType: 'Bundle', type, entry, ...more }); // prettier-ignore
const one = { fullUrl: UUID, resource: { resourceType: 'Patient', active: true } };

/** https://hl7.org/fhir/R5/references.html, https://hl7.org/fhir/R5/bundle.html */
const LINKS: readonly HardCase[] = [
  wrong('an id with # of a contained resource', patient({ contained: [org('#o')], managingOrganization: { reference: '##o' } })), // prettier-ignore
  wrong('an unresolved reference in an extension', patient({ extension: [{ url: 'u:x', valueReference: { reference: '#o' } }] })), // prettier-ignore
  right('a reference from an extension', patient({ contained: [org('o')], extension: [{ url: 'u:x', valueReference: { reference: '#o' } }] })), // prettier-ignore
  wrong('an unresolved reference within a contained resource', managed('#o', org('o', { partOf: { reference: '#p' } }))), // prettier-ignore
  wrong('an unresolved reference in a CodeableReference', { resourceType: 'MedicationRequest', status: 'active', intent: 'order', medication: { reference: { reference: '#m' } }, subject: { reference: 'Patient/1' } }), // prettier-ignore
  wrong('a reference to what another entry contains', bundle('collection', [{ fullUrl: UUID, resource: managed('#o', org('o')) }, { fullUrl: OTHER, resource: managed('#o') }])), // prettier-ignore
  wrong('an unresolved canonical', { resourceType: 'QuestionnaireResponse', status: 'completed', questionnaire: '#q' }, { isCreated: true }), // prettier-ignore
  right('a contained resource with a tag and a profile', managed('#o', org('o', { meta: { tag: [{ system: 'u:s', code: 'x' }], profile: ['http://x.org/p'] } }))), // prettier-ignore
  right('an element with the id of a contained resource', { ...managed('#o', org('o')), name: [{ id: 'o', family: 'x' }] }), // prettier-ignore
  wrong('an id twice within a contained resource', managed('#o', org('o', { contact: [{ id: 'a', name: [{ text: 'x' }] }, { id: 'a', name: [{ text: 'y' }] }] }))), // prettier-ignore
  wrong('an id twice, once beside a primitive', patient({ birthDate: '2024', _birthDate: { id: 'a' }, name: [{ id: 'a', family: 'x' }] })), // prettier-ignore
  wrong('a contained resource of another type than the element admits', managed('#p', { resourceType: 'Practitioner', id: 'p', active: true }), { isCreated: true }), // prettier-ignore
  wrong('a fullUrl that is no UUID', bundle('collection', [{ ...one, fullUrl: 'urn:uuid:1' }])),
  wrong('a fullUrl that is relative', bundle('collection', [{ ...one, fullUrl: 'Patient/1' }])),
  wrong('a batch without request', bundle('batch', [one])),
  wrong('a batch-response without response', bundle('batch-response', [one])),
  wrong('a searchset with a request', bundle('searchset', [{ ...one, search: { mode: 'match' }, request: { method: 'POST', url: 'Patient' } }], { total: 1, link: [{ relation: 'self', url: 'http://x.org' }] })), // prettier-ignore
  wrong('a notification that begins with something else', bundle('subscription-notification', [one])),
  wrong('a negative total', { resourceType: 'Bundle', type: 'searchset', total: -1 }),
  wrong('a request without url', bundle('transaction', [{ ...one, request: { method: 'POST' } }])),
  wrong('a request of no method', bundle('transaction', [{ ...one, request: { method: 'SEND', url: 'Patient' } }])),
  wrong('a Bundle in a Bundle that is wrong', bundle('collection', [{ fullUrl: UUID, resource: { resourceType: 'Bundle', type: 'collection', total: 1 } }])), // prettier-ignore
];

/** Narratives, XML and links, continued. */
export const FURTHER_CONTENT_CASES: readonly HardCase[] = [
  ...Object.entries(NARRATIVES).map(([name, html]) => wrong(name, inside(html))),
  ...ELSEWHERE,
  ...XML,
  ...LINKS,
];
