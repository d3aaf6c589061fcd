import fc from 'fast-check';
import type { XmlElement } from 'libxml2-wasm';
import { XmlAttribute, XmlDocument } from 'libxml2-wasm';
import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { FhirError } from '../../../runtime/fhir/errors.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { readXml } from '../../../runtime/format/xml/read-xml.js';
import { writeXml } from '../../../runtime/format/xml/write-xml.js';
import { applyXmlPatch } from '../../../runtime/patch/apply/apply-xml-patch.js';
import { canonical } from './xml-canonical.js';
import { at, change, escape, joined, places, print, selector, type Naive } from './xml-naive.js';

const SEED = 20261121;
const RUNS = { seed: SEED, numRuns: 500 };

const text = fc.constantFrom('a', 'b', ' ', '\n  ', '<&>"', 'é😀', ']]>');
const { element } = fc.letrec<{ element: Naive; node: Naive }>((tie) => ({
  node: fc.oneof({ maxDepth: 3 }, text, tie('element')),
  element: fc.record(
    { name: fc.constantFrom('e', 'f', 'g'), a: text, children: fc.array(tie('node'), { maxLength: 4 }) },
    { requiredKeys: ['name', 'children'] },
  ) as fc.Arbitrary<Naive>,
}));
const tree = element.map((node) => joined([node])[0]!);
const choice = fc.record({
  op: fc.nat(6),
  place: fc.nat(),
  content: fc.array(fc.oneof(text, element), { maxLength: 3 }),
  one: element,
  value: text,
});

/** Applies random operations the plain way, and gives them as a patch too. */
function patchOf(
  start: Naive,
  choices: readonly (typeof choice extends fc.Arbitrary<infer T> ? T : never)[],
): { patch: string; result: Naive } {
  let result = start;
  const operations: string[] = [];
  for (const { op, place: number, content, one, value } of choices) {
    const all = places(result);
    if (all.length === 0) continue;
    const place = all[number % all.length]!;
    const node = at(result, place);
    const sel = selector(result, place);
    const inner = content.map(print).join('');
    if (op === 0) {
      operations.push(`<remove sel="${sel}"/>`);
      result = change(result, place, (siblings, i) => siblings.toSpliced(i, 1));
    } else if (op === 1 || op === 2) {
      operations.push(`<add sel="${sel}" pos="${op === 1 ? 'before' : 'after'}">${inner}</add>`);
      result = change(result, place, (siblings, i) => siblings.toSpliced(op === 1 ? i : i + 1, 0, ...content));
    } else if (typeof node === 'string') {
      operations.push(`<replace sel="${sel}">${escape(value)}</replace>`);
      result = change(result, place, (siblings, i) => siblings.toSpliced(i, 1, value));
    } else if (op === 3 || op === 4) {
      operations.push(`<add sel="${sel}"${op === 3 ? ' pos="prepend"' : ''}>${inner}</add>`);
      const children = op === 3 ? [...content, ...node.children] : [...node.children, ...content];
      result = change(result, place, (siblings, i) => siblings.toSpliced(i, 1, { ...node, children }));
    } else if (op === 5) {
      operations.push(`<replace sel="${sel}">\n${print(one)} </replace>`);
      result = change(result, place, (siblings, i) => siblings.toSpliced(i, 1, one));
    } else {
      const target = node.a === undefined ? `<add sel="${sel}" type="@a">` : `<replace sel="${sel}/@a">`;
      operations.push(`${target}${escape(value)}</${node.a === undefined ? 'add' : 'replace'}>`);
      result = change(result, place, (siblings, i) => siblings.toSpliced(i, 1, { ...node, a: value }));
    }
  }
  return { patch: `<diff>${operations.join('\n')}</diff>`, result };
}

describe('XML Patch, random trees and patches', () => {
  it('does what the plain way does', () => {
    let operations = 0;
    fc.assert(
      fc.property(tree, fc.array(choice, { maxLength: 10 }), (start, choices) => {
        const { patch, result } = patchOf(start, choices);
        operations += patch.split('sel=').length - 1;
        expect(canonical(applyXmlPatch(print(start), patch))).toBe(canonical(print(result)));
      }),
      RUNS,
    );
    expect(operations).toBeGreaterThan(1000);
  });

  it('what is added before a node and removed again leaves the document as it was', () => {
    fc.assert(
      fc.property(tree, fc.nat(), element, (start, number, one) => {
        const elements = places(start).filter((place) => typeof at(start, place) !== 'string');
        fc.pre(elements.length > 0);
        const sel = selector(start, elements[number % elements.length]!);
        const patch = `<diff><add sel="${sel}" pos="before">${print(one)}</add><remove sel="${sel}"/></diff>`;
        expect(canonical(applyXmlPatch(print(start), patch))).toBe(canonical(print(start)));
      }),
      RUNS,
    );
  });
});

describe('XML Patch, selectors against the XPath of libxml2', () => {
  const name = fc.constantFrom('e', 'f', 'p:e', 'q:f', '*');
  const attribute = fc.constantFrom('a', 'p:a', 'q:a', 'b');
  const value = fc.constantFrom("'1'", '"2"', "''", "'12'");
  const condition = fc.oneof(
    fc.integer({ min: 1, max: 3 }).map(String),
    fc.tuple(attribute, value).map(([a, v]) => `@${a}=${v}`),
    fc.tuple(fc.constantFrom('e', 'p:e', 'q:f'), value).map(([child, v]) => `${child}=${v}`),
    value.map((v) => `.=${v}`),
  );
  const step = fc
    .tuple(name, fc.oneof(fc.constant([]), fc.array(condition, { maxLength: 2 })))
    .map(([n, all]) => n + all.map((c) => `[${c}]`).join(''));
  const last = fc.oneof(
    { weight: 5, arbitrary: step },
    attribute.map((a) => `@${a}`),
    fc
      .tuple(
        fc.constantFrom('text()', 'comment()', 'processing-instruction()', "processing-instruction('x')"),
        fc.constantFrom('', '[1]', '[2]'),
      )
      .map((parts) => parts.join('')),
  );
  const path = fc
    .tuple(
      fc.constantFrom('', '/'),
      fc
        .tuple(fc.constantFrom('e', '*', 'e[1]'), fc.array(step, { maxLength: 1 }))
        .map(([root, rest]) => [root, ...rest]),
      last,
    )
    .map(([start, steps, end]) => start + [...steps, end].join('/'));
  const { node } = fc.letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.constantFrom('1', '2', '<!--c-->', '<?x y?>', '<?z?>'),
      fc
        .tuple(
          fc.constantFrom('e', 'f', 'r:e', 's:f'),
          fc.constantFrom(
            '',
            ' a="1"',
            ' a="2" r:a="1"',
            ' s:a="2"',
            ' xmlns:s="urn:1"',
            ' xmlns="urn:1"',
            ' xmlns="" a="1"',
          ),
          fc.array(tie('node'), { maxLength: 5 }),
        )
        .map(([n, attributes, children]) => `<${n}${attributes}>${children.join('')}</${n}>`),
    ),
  }));
  const document = fc
    .array(node, { maxLength: 6 })
    .map((nodes) => `<e xmlns:r="urn:1" xmlns:s="urn:2" a="1">${nodes.join('')}</e>`);

  it('finds what XPath finds, where it is one node', () => {
    const seen = { none: 0, one: 0, several: 0 };
    fc.assert(
      fc.property(document, path, (source, sel) => {
        const patch = `<diff xmlns:p="urn:1" xmlns:q="urn:2"><remove sel="${sel.replaceAll('"', '&quot;')}"/></diff>`;
        const parsed = XmlDocument.fromString(source);
        try {
          // There a path without "/" begins at the root element.
          const found = parsed.find(sel.replace(/^(?!\/)/, '/'), { p: 'urn:1', q: 'urn:2' });
          const [first] = found;
          seen[first === undefined ? 'none' : found.length === 1 ? 'one' : 'several']++;
          if (found.length !== 1) {
            expect(() => applyXmlPatch(source, patch)).toThrow(
              first === undefined ? 'there is nothing at' : `leads to ${found.length} places`,
            );
          } else {
            if (first instanceof XmlAttribute) first.remove();
            else (first as XmlElement).remove();
            expect(canonical(applyXmlPatch(source, patch))).toBe(parsed.canonicalizeToString({ withComments: true }));
          }
        } finally {
          parsed.dispose();
        }
      }),
      { seed: SEED, numRuns: 3000 },
    );
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(50);
  });
});

describe('XML Patch of resources', () => {
  const div = '<div xmlns="http://www.w3.org/1999/xhtml"><p  class=\'c\'>é &#160;<br></br>&lt;</p><!-- c --></div>';
  const patient: Resource = {
    resourceType: 'Patient',
    id: 'p',
    text: { status: 'generated', div },
    name: [{ family: 'A & "B"', given: ['x', 'y'] }, { text: 'line\nline\ttab' }],
    birthDate: '2000-01-01',
    _birthDate: { extension: [{ url: 'urn:x', valueDecimal: 1.5 }] },
  };

  it('changes what it names and nothing else, the narrative to the character', () => {
    const patch = `<diff xmlns:f="http://hl7.org/fhir">
      <replace sel="f:Patient/f:birthDate/@value">2001-02-03</replace>
      <remove sel="f:Patient/f:name[2]"/>
      <add sel="f:Patient/f:name[1]/f:given[1]" pos="after"><f:given value="z"/></add>
      <add sel="f:Patient/f:name" pos="before"><active xmlns="http://hl7.org/fhir" value="true"/></add>
    </diff>`;
    expect(readXml(applyXmlPatch(writeXml(patient, tables), patch), tables)).toEqual({
      ...patient,
      active: true,
      name: [{ family: 'A & "B"', given: ['x', 'z', 'y'] }],
      birthDate: '2001-02-03',
    });
  });

  it('without operations gives the same tree', () => {
    expect(readXml(applyXmlPatch(writeXml(patient, tables), '<diff/>'), tables)).toEqual(patient);
  });

  it('adds a narrative as it is sent', () => {
    const { text: _, ...bare } = patient;
    const patch = `<f:diff xmlns:f="http://hl7.org/fhir"><f:add sel="f:Patient/f:id" pos="after"><f:text><f:status value="generated"/>${div}</f:text></f:add></f:diff>`;
    expect(readXml(applyXmlPatch(writeXml(bare as Resource, tables), patch), tables)).toEqual(patient);
  });

  it('whatever is sent is applied or refused with a FhirError', () => {
    const pieces = fc.constantFrom(
      '<diff>',
      '</diff>',
      '<add sel="',
      '<replace sel="',
      '<remove sel="',
      '">',
      '"/>',
      '</add>',
      '</replace>',
      'f:Patient',
      '*',
      '/',
      '[1]',
      "[@id='a']",
      '@value',
      'text()',
      'namespace::f',
      '" type="@a',
      '" pos="before',
      '<f:a/>',
      'x',
      '&lt;',
      '<!--c-->',
      '<?i?>',
      '\ud800',
      '\u0000',
      '\ufeff',
      ' xmlns:f="http://hl7.org/fhir"',
      '<!DOCTYPE a>',
      '<![CDATA[',
      ']]>',
    );
    const xml = writeXml(patient, tables);
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), fc.boolean(), (parts, isFramed) => {
        const patch = isFramed ? `<diff xmlns:f="http://hl7.org/fhir">${parts.join('')}</diff>` : parts.join('');
        try {
          readXml(applyXmlPatch(xml, patch), tables);
        } catch (error) {
          expect(error).toBeInstanceOf(FhirError);
        }
      }),
      { seed: SEED, numRuns: 3000 },
    );
  });
});
