import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { FhirError } from '../../../runtime/fhir/errors.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { readJson } from '../../../runtime/format/read-json.js';
import { writeJson } from '../../../runtime/format/write-json.js';
import { readXml } from '../../../runtime/format/xml/read-xml.js';
import { writeXml } from '../../../runtime/format/xml/write-xml.js';

const SEED = 20261121;

const seeds = [
  `<?xml version="1.0" encoding="UTF-8"?>
<Patient xmlns="http://hl7.org/fhir"><id value="a"/><text><status value="generated"/><div xmlns="http://www.w3.org/1999/xhtml">a<b class="c">b</b>&#160;</div></text>
<contained><Organization><id value="o"/></Organization></contained><extension url="u"><valueDecimal value="1.50"/></extension>
<active value="true"/><name id="n"><given value="A"/><given><extension url="x"><valueCode value="y"/></extension></given></name></Patient>`,
  `<f:Bundle xmlns:f="http://hl7.org/fhir" xmlns:h="http://www.w3.org/1999/xhtml"><f:type value="batch"/><f:entry><f:resource><f:Basic><f:text>
<f:status value="empty"/><h:div><h:p>x</h:p></h:div></f:text></f:Basic></f:resource><f:request><f:method value="GET"/><f:url value="Patient/1?a&amp;b"/></f:request></f:entry></f:Bundle>`,
];

const pieces = fc.constantFrom(
  '',
  '<',
  '>',
  '/',
  '"',
  "'",
  '=',
  '&',
  ';',
  '&#',
  '&#0;',
  '&amp;',
  '&nbsp;',
  '<!--',
  '-->',
  '<![CDATA[',
  ']]>',
  '<?x?>',
  '<!DOCTYPE a>',
  'xmlns=""',
  ' xmlns:f="urn:f"',
  'xmlns="http://www.w3.org/1999/xhtml"',
  '\u0000',
  '\ud800',
  '\udc00',
  '\ufeff',
  '\uffff',
  '😀',
  '\r',
  '\n',
  ' ',
  'a',
  '<name>',
  '</name>',
  '<div>',
  '<contained>',
  '<Patient>',
  '<given value="x"/>',
  '<active value="1"/>',
  ' id="x"',
  ' value="1e400"',
  '<f:a/>',
  '__proto__',
  '<__proto__ value="x"/>',
  '<constructor/>',
  '<extension url="__proto__"/>',
);

/** One to four cuts, replacements or repetitions. */
const mutated = fc
  .tuple(
    fc.constantFrom(...seeds),
    fc.array(fc.tuple(fc.nat(), fc.nat({ max: 40 }), pieces, fc.boolean()), { minLength: 1, maxLength: 4 }),
  )
  .map(([seed, edits]) => {
    let text = seed;
    for (const [place, length, piece, repeats] of edits) {
      const at = place % (text.length + 1);
      const cut = repeats ? text.slice(at, at + length) : '';
      text = text.slice(0, at) + cut + piece + text.slice(repeats ? at : at + length);
    }
    return text;
  });

/** Tags removed, repeated and exchanged, which more often leaves something that is well-formed. */
const reordered = fc
  .tuple(
    fc.constantFrom(...seeds),
    fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat({ max: 2 })), { minLength: 1, maxLength: 3 }),
  )
  .map(([seed, edits]) => {
    const parts = seed.split(/(<[^>]*>)/);
    const empty = (n: number): number => {
      const places = parts.flatMap((part, i) => (part.endsWith('/>') ? [i] : []));
      return places[n % Math.max(1, places.length)] ?? 0;
    };
    for (const [one, other, what] of edits) {
      const [i, j] = [empty(one), empty(other)];
      if (what === 0) parts.splice(i, 1);
      else if (what === 1) parts.splice(i, 0, parts[j]!);
      else [parts[i], parts[j]] = [parts[j]!, parts[i]!];
    }
    return parts.join('');
  });

/** The resource, or undefined where the text was refused as it should be. */
function read(xml: string): Resource | undefined {
  try {
    return readXml(xml, tables);
  } catch (error) {
    if (!(error instanceof FhirError)) throw error;
    expect(error.status).toBe(400);
    for (const { text } of error.issues) expect(text).toMatch(/^Line \d+, column \d+: ./);
    return undefined;
  }
}

describe('XML that has gone wrong', () => {
  it('is refused, or read as a resource that can be written and read again', () => {
    let good = 0;
    fc.assert(
      fc.property(fc.oneof(mutated, reordered), (xml) => {
        const resource = read(xml);
        if (resource === undefined) return;
        good++;
        expect(readJson(writeJson(resource))).toEqual(resource);
        expect(readXml(writeXml(resource, tables), tables)).toEqual(resource);
      }),
      { numRuns: 3000, seed: SEED },
    );
    expect(good).toBeGreaterThan(100);
    expect(({} as Record<string, unknown>)['value']).toBeUndefined();
  });

  it('even when it is nothing like XML', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        read(text);
        read(`<Patient xmlns="http://hl7.org/fhir">${text}</Patient>`);
        read(`<Patient xmlns="http://hl7.org/fhir"><gender value="${text}"/></Patient>`);
      }),
      { numRuns: 1000, seed: SEED },
    );
  });
});

describe('narratives of any kind', () => {
  const fragment = fc.oneof(
    pieces,
    fc.string({ unit: 'grapheme', maxLength: 10 }),
    fc.constantFrom('<p>', '</p>', '<br/>', '</div>', '<div>'),
  );
  const div = fc
    .array(fragment, { maxLength: 8 })
    .map((parts) => `<div xmlns="http://www.w3.org/1999/xhtml">${parts.join('')}</div>`);

  it('are written such that they are read back, or refused', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          div,
          fc.array(fragment).map((parts) => parts.join('')),
        ),
        (text) => {
          const resource = { resourceType: 'Patient', text: { status: 'generated', div: text }, active: true };
          let xml: string;
          try {
            xml = writeXml(resource, tables);
          } catch (error) {
            if (!(error instanceof FhirError)) throw error;
            expect(error.issues[0].expression).toBe('Patient.text.div');
            return;
          }
          const back = readXml(xml, tables);
          expect({ ...back, text: undefined }).toEqual({ ...resource, text: undefined });
          expect(writeXml(back, tables)).toBe(writeXml(readXml(writeXml(back, tables), tables), tables));
        },
      ),
      { numRuns: 3000, seed: SEED },
    );
  });
});

describe('values of any kind', () => {
  it('come back as they were', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (value) => {
        const resource = { resourceType: 'Patient', name: [{ id: value, family: value }] };
        let xml: string;
        try {
          xml = writeXml(resource, tables);
        } catch (error) {
          if (!(error instanceof FhirError)) throw error;
          // eslint-disable-next-line no-control-regex
          expect(value).toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u);
          return;
        }
        expect(readXml(xml, tables)).toEqual(resource);
      }),
      { numRuns: 3000, seed: SEED },
    );
  });
});
