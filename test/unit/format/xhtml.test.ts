import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { faultOfXhtml, isXhtml, MAX_XHTML_DEPTH } from '../../../runtime/fhir/xml/xhtml.js';
import { openParser, XmlRefusal } from '../../../runtime/format/xml/open-parser.js';
import { xhtmlTagFault } from '../../../runtime/format/xml/xhtml.js';
import { processorTime } from '../../processor-time.js';

const XHTML = 'xmlns="http://www.w3.org/1999/xhtml"';
const div = (content: string): string => `<div ${XHTML}>${content}</div>`;

describe('the text of a narrative (narrative.html#xhtml)', () => {
  it.each([
    div('x'),
    `<div ${XHTML}/>`,
    ` \n<!-- before -->\t${div('x')}<!-- after -->\r\n`,
    `<div\n class = 'a'  ${XHTML} title=">" ></div >`,
    div('<p>a<br/>b<br /></p><!-- <p> & --><![CDATA[<p> &nbsp; ]]]><img src="a?b&amp;c=&#38;" alt=""/>'),
    div('&lt;&gt;&amp;&quot;&apos;&#160;&#xa0;&#x1F600;&#0065; ] ]] ]>'),
    div('\u{1f600} \u00e9 \ufffd'),
    `<div xml:lang="de" lang="de" ${XHTML}/>`,
    `<h:div xmlns:h="http://www.w3.org/1999/xhtml"><h:p/></h:div>`,
    div(`<h:p xmlns:h="http://www.w3.org/1999/xhtml"/><p xmlns:o="urn:o" ${XHTML}/>`),
    div('<p>'.repeat(MAX_XHTML_DEPTH - 1) + '</p>'.repeat(MAX_XHTML_DEPTH - 1)),
  ])('%s is one', (text) => {
    expect(faultOfXhtml(text)).toBeUndefined();
  });

  it.each([
    ['', '1, column 1: expected a "div"'],
    ['x', '1, column 1: expected a "div"'],
    [`<p ${XHTML}/>`, '1, column 1: expected a "div", not "p"'],
    ['<div/>', '1, column 1: the div needs xmlns="http://www.w3.org/1999/xhtml"'],
    ['<div xmlns="http://hl7.org/fhir"/>', 'is of http://hl7.org/fhir'],
    [`<div ${XHTML}>`, 'the element "div" is not closed'],
    [`<div ${XHTML}`, 'the tag "div" is not closed'],
    [div('') + div(''), 'nothing may follow the div'],
    [div('') + 'x', 'nothing may follow the div'],
    [div('</div><div>'), 'nothing may follow the div'],
    [div('\n<p>\n <br></p>'), '3, column 6: expected "</br>", not "</p>"'],
    [div('</p>'), 'expected "</div>", not "</p>"'],
    [div('&nbsp;'), '1, column 43: XML does not know "&nbsp;"'],
    [div('a & b'), '"&" has to be written as "&amp;"'],
    [div('<a href="?a&b=c"/>'), '"&" has to be written as "&amp;"'],
    [div('&#0;'), 'XML cannot hold the character &#0;'],
    [div('&#xFFFE;'), 'XML cannot hold the character &#xFFFE;'],
    [div('&#xD800;'), 'XML cannot hold the character &#xD800;'],
    [div('\u0007'), '1, column 43: XML cannot hold the character U+0007'],
    [div('\uffff'), 'U+FFFF'],
    [div('a\ud83db'), 'U+D83D'],
    [div('a < b'), 'expected a name'],
    [div('a ]]> b'), '"]]&gt;"'],
    [div('<input disabled/>'), 'the attribute "disabled" needs a value'],
    [div('<p class=a/>'), 'has to be quoted'],
    [div('<p title="<"/>'), '&lt;'],
    [div('<p a="1" a="2"/>'), 'the attribute "a" appears twice'],
    [div(`<p ${[...'abcdefghijkl'].map((name) => `${name}="" `).join('')} k=""/>`), 'the attribute "k" appears twice'],
    [div(`<p ${[...'abcdefghijkl'].map((name) => `${name}="" `).join('')} b=""/>`), 'the attribute "b" appears twice'],
    [div('<p a="1"b="2"/>'), 'white space'],
    [div('<p a="1/>'), 'the value of "a" is not closed'],
    [div('<!-- a -- b -->'), 'no "--"'],
    [div('<!-- a'), 'the comment is not closed'],
    [div('<![CDATA[a'), 'the CDATA section is not closed'],
    [`<!DOCTYPE div>${div('')}`, 'only elements'],
    [`<?xml version="1.0"?>${div('')}`, 'processing instructions'],
    [div('<?x y?>'), 'processing instructions'],
    [div('<svg xmlns="urn:svg"/>'), '"svg" is of urn:svg'],
    [div('<p xmlns=""/>'), '"p" is of no namespace'],
    [div('<a:b/>'), '"a:b" is of no namespace'],
    [div('<p><h:p xmlns:h="http://www.w3.org/1999/xhtml"/></p><h:p/>'), '"h:p" is of no namespace'],
    [div('<p xmlns:x="urn:x" x:y="1"/>'), 'no attributes of other namespaces'],
    [div('<p xmlns:x=""/>'), 'cannot be declared'],
    [div('<p xmlns:xml="urn:x"/>'), 'cannot be declared'],
    [div('<a:b:c/>'), 'white space'],
    [div('<p>'.repeat(MAX_XHTML_DEPTH) + '</p>'.repeat(MAX_XHTML_DEPTH)), 'nested 100 deep'],
  ])('%s is none: %s', (text, reason) => {
    expect(faultOfXhtml(text)).toContain(reason);
  });

  it('is what another parser takes, and nothing else', () => {
    const piece = fc.constantFrom(
      ...[
        '<p>',
        '</p>',
        '<br/>',
        '<p',
        '>',
        '/>',
        ' ',
        'a',
        '"',
        "'",
        '=',
        ' a="b"',
        " a='&amp;'",
        ' b=""',
        ' xml:lang="de"',
      ],
      ...[
        '&',
        '&amp;',
        '&#65;',
        '&#x0;',
        '&x;',
        ';',
        '<',
        '<!--',
        '-->',
        '--',
        '<![CDATA[',
        ']]>',
        ']]',
        '\n',
        '\u0001',
        '\uffff',
      ],
      ...[
        '</div>',
        '<div>',
        `<div ${XHTML}>`,
        ' xmlns="urn:x"',
        ` ${XHTML}`,
        ' xmlns:h="http://www.w3.org/1999/xhtml"',
        '<h:p',
      ],
      ...[
        '</h:p>',
        ' h:a=""',
        ' xmlns:h="urn:h"',
        '<?x?>',
        '<!DOCTYPE x>',
        '\u00e9',
        '\u{1f600}',
        ':',
        '.',
        '-',
        '0',
        '\ufffe',
      ],
    );
    const text = fc.array(piece, { maxLength: 12 }).map((parts) => div(parts.join('')));
    let taken = 0;
    fc.assert(
      fc.property(text, (each) => {
        expect([each, isXhtml(each)]).toEqual([each, isTaken(each)]);
        if (isXhtml(each)) taken++;
      }),
      { numRuns: 20_000 },
    );
    expect(taken).toBeGreaterThan(1000);
  });

  it('takes time that grows with the length only', () => {
    const many = 100_000;
    const texts = [
      div('<p>'.repeat(many) + '</p>'.repeat(many)),
      div(
        `<p ${Array.from({ length: many }, (_, i) => `xmlns:a${i}="x"`).join(' ')}>${'<b xmlns:c="y"/>'.repeat(many)}</p>`,
      ),
      div('<!--'.repeat(many)),
      div('&#' + '0'.repeat(many)),
      `<div${' '.repeat(many)}`,
    ];
    const took = processorTime();
    expect(texts.map(isXhtml)).toEqual([false, true, false, false, false]);
    // Where each of them looked back at what came before it would be minutes.
    expect(took()).toBeLessThan(10_000);
  });
});

/** What the XML parser says of it, which has no part in the check. */
function isTaken(text: string): boolean {
  const parser = openParser();
  let isFine = true;
  parser.on('opentag', (tag) => (isFine &&= xhtmlTagFault(tag) === undefined));
  try {
    parser.write(text).close();
    return isFine;
  } catch (error) {
    if (error instanceof XmlRefusal) return false;
    throw error;
  }
}
