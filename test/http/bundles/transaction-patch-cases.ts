import { expect } from 'vitest';

import { observation } from './bundle-server.js';
import { fhirPathPatch, jsonPatch, xmlDiff, xmlPatch } from './patch-entries.js';

/** What is patched. */
export const SENT = observation('Patient/before', {
  text: {
    status: 'generated',
    div: '<div xmlns="http://www.w3.org/1999/xhtml"><a href="http://x.example/">x</a></div>',
  },
  subject: { id: 's', reference: 'Patient/before' },
  contained: [{ resourceType: 'Patient', id: 'p' }],
  performer: [{ display: 'x' }, { reference: '#p' }],
  meta: { source: 'http://x.example/' },
  identifier: [{ system: 'urn:ietf:rfc:3986', value: 'x' }],
  note: [{ text: 'x' }],
  extension: [{ url: 'http://x.example/e', valueUri: 'http://x.example/' }],
  effectiveDateTime: '2020-01-01',
});

type Patch = (placeholder: string) => object;

const div = (href: string, text = href): string =>
  `<div xmlns="http://www.w3.org/1999/xhtml"><p title="x"><a href="${href}">${text}</a></p></div>`;
const narrative = (who: string, urn: string): object => ({ text: { div: div(who, urn) } });
const subject = (who: string): object => ({ subject: { reference: who } });
const source = (who: string): object => ({ meta: { source: who } });
const E = 'http://x.example/e';
const EXTENSIONS = (urn: string): object[] => [
  { url: E, valueUri: urn },
  { url: E, valueUrl: `${urn}#x` },
  { url: E, valueReference: { reference: urn, display: urn } },
];
const extensions = (who: string, urn: string): object => ({
  extension: [{ valueUri: who }, { valueUrl: `${who}#x` }, { valueReference: { reference: who, display: urn } }],
});

/** Patches, by what is replaced in them, and what they make of it. */
export const REPLACED: readonly (readonly [string, Patch, (who: string, urn: string) => object])[] = [
  [
    'JSON: a reference by its path',
    (urn) => jsonPatch({ op: 'replace', path: '/subject/reference', value: urn }),
    subject,
  ],
  ['JSON: a Reference', (urn) => jsonPatch({ op: 'add', path: '/subject', value: { reference: urn } }), subject],
  [
    'JSON: References in an array',
    (urn) => jsonPatch({ op: 'add', path: '/performer', value: [{ reference: urn }, { reference: 'Patient/y' }] }),
    (who) => ({ performer: [{ reference: who }, { reference: 'Patient/y' }] }),
  ],
  [
    'JSON: a Reference at the end of an array',
    (urn) => jsonPatch({ op: 'add', path: '/performer/-', value: { reference: urn } }),
    (who) => ({ performer: [{ display: 'x' }, { reference: '#p' }, { reference: who }] }),
  ],
  ['JSON: a uri by its path', (urn) => jsonPatch({ op: 'add', path: '/meta/source', value: urn }), source],
  ['JSON: extensions', (urn) => jsonPatch({ op: 'add', path: '/extension', value: EXTENSIONS(urn) }), extensions],
  [
    'JSON: an extension by its path',
    (urn) => jsonPatch({ op: 'replace', path: '/extension/0/valueUri', value: urn }),
    (who) => ({ extension: [{ valueUri: who }] }),
  ],
  [
    'JSON: an extension of a primitive',
    (urn) => jsonPatch({ op: 'add', path: '/_effectiveDateTime', value: { extension: [{ url: E, valueUri: urn }] } }),
    (who) => ({ _effectiveDateTime: { extension: [{ valueUri: who }] } }),
  ],
  ['JSON: narrative', (urn) => jsonPatch({ op: 'replace', path: '/text/div', value: div(urn) }), narrative],
  [
    'JSON: narrative in a Narrative',
    (urn) => jsonPatch({ op: 'add', path: '/text', value: { status: 'generated', div: div(urn) } }),
    narrative,
  ],
  [
    'JSON: a contained resource',
    (urn) =>
      jsonPatch({
        op: 'add',
        path: '/contained/0',
        value: { resourceType: 'Patient', id: 'q', managingOrganization: { reference: urn } },
      }),
    (who) => ({ contained: [{ id: 'q', managingOrganization: { reference: who } }, { id: 'p' }] }),
  ],
  [
    'JSON: within a contained resource',
    (urn) =>
      jsonPatch(
        { op: 'add', path: '/contained/0/meta', value: { source: urn } },
        { op: 'add', path: '/contained/0/managingOrganization', value: { reference: urn } },
        { op: 'add', path: '/contained/0/text', value: { status: 'generated', div: div(urn) } },
      ),
    (who, urn) => ({
      contained: [{ meta: { source: who }, managingOrganization: { reference: who }, ...narrative(who, urn) }],
    }),
  ],
  [
    'FHIRPath: a Reference',
    (urn) => fhirPathPatch('replace', 'Observation.subject', { valueReference: { reference: urn } }),
    subject,
  ],
  ...['String', 'Uri', 'Url', 'Canonical'].flatMap(
    (type): (readonly [string, Patch, (who: string, urn: string) => object])[] => [
      [
        `FHIRPath: value${type} for a reference`,
        (urn) => fhirPathPatch('replace', 'Observation.subject.reference', { [`value${type}`]: urn }),
        subject,
      ],
      [
        `FHIRPath: value${type} for a uri`,
        (urn) => fhirPathPatch('replace', 'Observation.meta.source', { [`value${type}`]: urn }),
        source,
      ],
    ],
  ),
  [
    'FHIRPath: a reference found by a function',
    (urn) =>
      fhirPathPatch('add', "Observation.performer.where(display = 'x').first()", { valueString: urn }, 'reference'),
    (who) => ({ performer: [{ reference: who, display: 'x' }, { reference: '#p' }] }),
  ],
  [
    'FHIRPath: an item of a list',
    (urn) => fhirPathPatch('insert', 'Observation.performer', { valueReference: { reference: urn } }),
    (who) => ({ performer: [{ reference: who }, { display: 'x' }, { reference: '#p' }] }),
  ],
  [
    'FHIRPath: parts',
    (urn) => fhirPathPatch('replace', 'Observation.subject', { part: [{ name: 'reference', valueString: urn }] }),
    subject,
  ],
  [
    'FHIRPath: parts of parts',
    (urn) =>
      fhirPathPatch(
        'add',
        'Observation',
        {
          part: [
            { name: 'url', valueUri: E },
            { name: 'value', valueUri: urn },
          ],
        },
        'extension',
      ),
    (who) => ({ extension: [{}, { valueUri: who }] }),
  ],
  [
    'FHIRPath: a choice',
    (urn) => fhirPathPatch('replace', 'Observation.extension[0].value', { valueUri: urn }),
    (who) => ({ extension: [{ valueUri: who }] }),
  ],
  [
    'FHIRPath: a choice by its type',
    (urn) => fhirPathPatch('replace', 'Observation.extension[0].value.ofType(uri)', { valueUri: urn }),
    (who) => ({ extension: [{ valueUri: who }] }),
  ],
  [
    'FHIRPath: within a contained resource',
    (urn) =>
      fhirPathPatch(
        'add',
        'Observation.contained[0]',
        { part: [{ name: 'reference', valueString: urn }] },
        'managingOrganization',
      ),
    (who) => ({ contained: [{ managingOrganization: { reference: who } }] }),
  ],
  [
    'FHIRPath: narrative',
    (urn) => fhirPathPatch('replace', 'Observation.text.div', { valueString: div(urn) }),
    narrative,
  ],
  [
    'FHIRPath: narrative in parts',
    (urn) =>
      fhirPathPatch('replace', 'Observation.text', {
        part: [
          { name: 'status', valueCode: 'generated' },
          { name: 'div', valueString: div(urn) },
        ],
      }),
    narrative,
  ],
  [
    'XML: a reference by its attribute',
    (urn) => xmlPatch('replace', '/Observation/subject/reference/@value', urn),
    subject,
  ],
  [
    'XML: a reference',
    (urn) => xmlPatch('replace', '/Observation/subject/reference', `<reference value="${urn}"/>`),
    subject,
  ],
  [
    'XML: a Reference',
    (urn) => xmlPatch('replace', '*/subject', `<subject><reference value="${urn}"/></subject>`),
    subject,
  ],
  [
    'XML: a Reference before another',
    (urn) =>
      xmlPatch(
        'add',
        '/Observation/performer[1]',
        `<performer><reference value="${urn}"/></performer>`,
        'pos="before"',
      ),
    (who) => ({ performer: [{ reference: who }, { display: 'x' }, { reference: '#p' }] }),
  ],
  [
    'XML: an element before the others',
    (urn) => xmlPatch('add', '/Observation/performer[1]', `<reference value="${urn}"/>`, 'pos="prepend"'),
    (who) => ({ performer: [{ reference: who, display: 'x' }, { reference: '#p' }] }),
  ],
  ['XML: a uri', (urn) => xmlPatch('replace', '/Observation/meta/source/@value', urn), source],
  [
    'XML: an extension by its attribute',
    (urn) => xmlPatch('replace', '/Observation/extension/valueUri/@value', urn),
    (who) => ({ extension: [{ valueUri: who }] }),
  ],
  [
    'XML: an extension of a primitive',
    (urn) =>
      xmlPatch('add', '/Observation/effectiveDateTime', `<extension url="${E}"><valueUri value="${urn}"/></extension>`),
    (who) => ({ _effectiveDateTime: { extension: [{ valueUri: who }] } }),
  ],
  ['XML: narrative', (urn) => xmlPatch('replace', '/Observation/text/h:div', div(urn)), narrative],
  [
    'XML: a link of narrative by its attribute',
    (urn) => xmlPatch('replace', '/Observation/text/h:div/h:a/@href', `${urn}#x`),
    (who) => ({ text: { div: expect.stringContaining(`<a href="${who}#x">x</a>`) } }),
  ],
  [
    'XML: attributes that are added',
    (urn) =>
      xmlDiff(
        '<replace sel="/Observation/subject/reference"><reference id="r"/></replace>',
        `<add sel="/Observation/subject/reference" type="@value">${urn}</add>`,
        '<remove sel="/Observation/text/h:div/h:a/@href"/>',
        `<add sel="/Observation/text/h:div/h:a" type="@href"><![CDATA[${urn}]]></add>`,
        `<add sel="/Observation/text/h:div/h:a" type="@title">${urn}</add>`,
      ),
    (who, urn) => ({ ...subject(who), text: { div: expect.stringContaining(`<a href="${who}" title="${urn}">`) } }),
  ],
  [
    'XML: an element of narrative',
    (urn) => xmlPatch('add', '/Observation/text/h:div', `<h:img src="${urn}" alt="${urn}"/>`),
    (who, urn) => ({ text: { div: expect.stringContaining(`src="${who}" alt="${urn}"`) } }),
  ],
  [
    'XML: within a contained resource',
    (urn) =>
      xmlPatch(
        'add',
        '/Observation/contained/Patient',
        `<managingOrganization><reference value="${urn}"/></managingOrganization>`,
      ),
    (who) => ({ contained: [{ managingOrganization: { reference: who } }] }),
  ],
  ['XML: under any name', (urn) => xmlPatch('replace', "/Observation/*[@id='s']/reference/@value", urn), subject],
];

/** Patches with texts that look like placeholders and are none, and what they make. */
export const LEFT: readonly (readonly [string, Patch, (urn: string) => object])[] = [
  [
    'JSON: identifiers and other text',
    (urn) =>
      jsonPatch(
        { op: 'replace', path: '/identifier/0/value', value: urn },
        { op: 'add', path: '/identifier/-', value: { value: urn } },
        { op: 'replace', path: '/note/0/text', value: urn },
        { op: 'add', path: '/extension/-', value: { url: E, valueString: urn } },
        { op: 'add', path: '/extension/-', value: { url: E, valueCanonical: urn } },
      ),
    (urn) => ({
      identifier: [{ value: urn }, { value: urn }],
      note: [{ text: urn }],
      extension: [{}, { valueString: urn }, { valueCanonical: urn }],
    }),
  ],
  [
    'JSON: a text with more in it, and URIs that are no URN',
    (urn) =>
      jsonPatch(
        { op: 'replace', path: '/meta/source', value: `x${urn}` },
        { op: 'replace', path: '/text/div', value: div('http://x.example/', urn) },
      ),
    (urn) => ({ meta: { source: `x${urn}` }, text: { div: div('http://x.example/', urn) } }),
  ],
  [
    'FHIRPath: identifiers and other text',
    (urn) => fhirPathPatch('replace', "Observation.identifier.where(value = 'x').value", { valueUri: urn }),
    (urn) => ({ identifier: [{ value: urn }] }),
  ],
  [
    'FHIRPath: a choice that is no URI',
    (urn) => fhirPathPatch('replace', 'Observation.extension[0].value', { valueString: urn }),
    (urn) => ({ extension: [{ valueString: urn }] }),
  ],
  [
    'FHIRPath: parts that are text',
    (urn) => fhirPathPatch('add', 'Observation', { part: [{ name: 'text', valueMarkdown: urn }] }, 'note'),
    (urn) => ({ note: [{ text: 'x' }, { text: urn }] }),
  ],
  [
    'XML: identifiers',
    (urn) => xmlPatch('replace', '/Observation/identifier/value/@value', urn),
    (urn) => ({ identifier: [{ value: urn }] }),
  ],
  [
    'XML: other text',
    (urn) => xmlPatch('add', '/Observation/note', `<note><text value="${urn}"/></note>`, 'pos="after"'),
    (urn) => ({ note: [{ text: 'x' }, { text: urn }] }),
  ],
  [
    'XML: text of narrative',
    (urn) => xmlPatch('replace', '/Observation/text/h:div/h:a/text()', urn),
    (urn) => ({ text: { div: expect.stringContaining(`<a href="http://x.example/">${urn}</a>`) } }),
  ],
];
