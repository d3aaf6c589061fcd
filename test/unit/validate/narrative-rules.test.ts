import { describe, expect, it } from 'vitest';

import { forbiddenInNarrative, saysSomething } from '../../../runtime/validate/rules/narrative.js';

const div = (content: string): string => `<div xmlns="http://www.w3.org/1999/xhtml">${content}</div>`;

describe('a narrative says something (txt-2)', () => {
  it.each([
    ['text', 'a'],
    ['text within elements', '<p class="x"> <b>a</b></p>'],
    ['text behind a comment', '<!-- a --><p>b</p>'],
    ['text in a section', '<![CDATA[a]]>'],
    ['text beyond ASCII', 'é'],
    ['an ampersand', '&amp;'],
    ['a character reference', '&#97;'],
    ['an image alone', '<p><img src="a.png"/></p>'],
  ])('with %s', (_, content) => {
    expect(saysSomething(div(content))).toBe(true);
  });

  it.each([
    ['nothing', ''],
    ['white space', ' \n\t'],
    ['elements alone', '<p class="text"><b/></p>'],
    ['a comment alone', '<!-- a -->'],
    ['an empty section', '<![CDATA[ ]]>'],
    ['references to white space', '&#32;&#xA0;'],
    ['white space beyond ASCII', '\u00a0\u2003'],
  ])('not with %s', (_, content) => {
    expect(saysSomething(div(content))).toBe(false);
  });
});

describe('elements and attributes of a narrative (txt-1)', () => {
  it.each([
    ['no element beside the div', 'a', undefined],
    ['a script right behind the begin', '<script>a</script>', 'the element "script"'],
    ['an attribute of a later element', '<p>a</p><p onclick="a()">b</p>', 'the attribute "onclick" of "p"'],
  ])('with %s', (_, content, forbidden) => {
    expect(forbiddenInNarrative(div(content))).toBe(forbidden);
  });

  it('with an attribute of the div itself', () => {
    expect(forbiddenInNarrative('<div xmlns="http://www.w3.org/1999/xhtml" onload="a()">a</div>')).toBe(
      'the attribute "onload" of "div"',
    );
  });
});
