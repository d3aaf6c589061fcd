import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { FhirError } from '../../../runtime/fhir/errors.js';
import { applyXmlPatch } from '../../../runtime/patch/apply/apply-xml-patch.js';
import { processorTime } from '../../processor-time.js';
import { canonical } from './xml-canonical.js';

interface Example {
  readonly title: string;
  readonly document: string;
  readonly patch: string;
  readonly result?: string;
  readonly error?: string;
}

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>';

function diff(...operations: string[]): string {
  return `<diff>${operations.join('')}</diff>`;
}

/** The result without the declaration of XML. */
function apply(document: string, patch: string): string {
  const result = applyXmlPatch(document, patch);
  expect(result.startsWith(DECLARATION)).toBe(true);
  return result.slice(DECLARATION.length);
}

function failure(document: string, patch: string): FhirError {
  try {
    applyXmlPatch(document, patch);
  } catch (error) {
    if (error instanceof FhirError) return error;
    throw error;
  }
  throw new Error('nothing failed');
}

describe('RFC 5261, the examples', () => {
  const examples = JSON.parse(readFileSync(new URL('rfc5261.json', import.meta.url), 'utf8')) as Example[];

  it('are all here', () => {
    const titles = examples.map(({ title }) => title.split(' ')[0]);
    expect(titles.slice(0, 18)).toEqual(Array.from({ length: 18 }, (_, i) => `A.${i + 1}`));
  });

  it.each(examples.map((example) => [example.title, example] as const))('%s', (_, example) => {
    if (example.result === undefined) {
      expect(failure(example.document, example.patch).issues[0].detail).toBe(example.error);
    } else {
      expect(canonical(applyXmlPatch(example.document, example.patch))).toBe(canonical(example.result));
    }
  });
});

describe('RFC 5261 4.1, selectors', () => {
  const document =
    '<doc a="1"><e a="x">one</e><e a="y"><i>two</i><i/></e><f b="y">t<!--c1--><e/>u<?p q?><!--c2--><?r?></f><text>v</text><id/></doc>';
  it.each([
    ['doc', '<doc a="1"'],
    ['/doc', '<doc a="1"'],
    ['*', '<doc a="1"'],
    ['doc/e[1]', '<e a="x"'],
    ['doc/e[2]', '<e a="y"'],
    ['doc/*[3]', '<f b="y"'],
    ['*/*[3]/*', '<e'],
    ["doc/e[@a='y']", '<e a="y"'],
    ['doc/e[@a="y"]', '<e a="y"'],
    ["doc/e[i='two']", '<e a="y"'],
    ["doc/e[.='one']", '<e a="x"'],
    ["doc/*[.='two']", '<e a="y"'],
    ["doc/e[i='two']/i[2]", '<i'],
    ["doc/*[@a='y'][1]", '<e a="y"'],
    ["doc/e[2][@a='y']", '<e a="y"'],
    ["doc/f[.='tu']", '<f b="y"'],
    ["doc/*[e='']", '<f b="y"'],
    ['doc/text', '<text'],
    ['doc/id', '<id'],
    [" doc / e [ @a = 'y' ] [ 1 ] ", '<e a="y"'],
    ["child::doc/child::e[attribute::a='y']", '<e a="y"'],
  ])('%s', (selector, start) => {
    const marked = apply(document, diff(`<add sel="${selector.replaceAll('"', '&quot;')}" type="@hit">1</add>`));
    expect(marked).toContain(`${start} hit="1"`);
    expect(marked.replace(' hit="1"', '')).toBe(document);
  });

  it.each([
    ['doc/f/text()[1]', '>t<', '><'],
    ['doc/f/text()[2]', '>u<', '><'],
    ['doc/text/text()', '>v<', '><'],
    ['doc/f/comment()[2]', '<!--c2-->', ''],
    ['doc/f/processing-instruction()[1]', '<?p q?>', ''],
    ["doc/f/processing-instruction('r')", '<?r?>', ''],
    ['doc/@a', ' a="1"', ''],
    ['doc/attribute::a', ' a="1"', ''],
  ])('remove %s', (selector, gone, left) => {
    const result = apply(document, diff(`<remove sel="${selector}"/>`));
    expect(canonical(result)).toBe(canonical(document.replace(gone, left)));
  });

  it("id('…') is an element by its xml:id, and can be where a path begins", () => {
    const target = '<doc><a xml:id="x" id="y"><b/></a><a id="x"/></doc>';
    expect(apply(target, diff(`<remove sel="id('x')/b"/>`))).toBe(
      '<doc><a id="y" xml:id="x"/><a id="x"/></doc>'.replace('id="y" xml:id="x"', 'xml:id="x" id="y"'),
    );
    expect(apply(target, diff(`<remove sel="/id(&quot;x&quot;)"/>`))).toBe('<doc><a id="x"/></doc>');
    const error = failure(target, diff(`<remove sel="id('y')"/>`));
    expect(error.message).toContain('there is nothing at "id(\'y\')"; only the attribute xml:id makes an id');
  });

  it.each([
    ['', 'a name is expected'],
    ['/', 'a name is expected'],
    ['//doc', 'a name is expected'],
    ['doc/', 'a name is expected'],
    ['doc//e', 'a name is expected'],
    ['doc/..', 'a name is expected'],
    ['doc/e[', 'a name is expected'],
    ['doc/e[0]', 'places are counted from 1'],
    ['doc/e[1', '"]" is expected'],
    ['doc/e[last()]', '"=" is expected'],
    ['doc/e[@a]', '"=" is expected'],
    ["doc/e[@a='1]", 'a text in quotes is expected'],
    ['doc/e[@a=1]', 'a text in quotes is expected'],
    ["doc/e[@a!='1']", '"=" is expected'],
    ["doc/e[@a='1' and @b='2']", '"]" is expected'],
    ["doc/e[i/j='1']", '"=" is expected'],
    ['doc/node()', 'it has to end'],
    ['doc | e', 'it has to end'],
    ['doc/@a/b', 'nothing can follow'],
    ['doc/text()/b', 'nothing can follow'],
    ['doc/namespace::a/b', 'nothing can follow'],
    ['doc/text()[1][2]', 'it has to end'],
    ["doc/text()[.='x']", 'a number is expected'],
    ["doc/id('x')", 'it has to end'],
    ['id(x)', 'a text in quotes is expected'],
    ['descendant::e', 'it has to end'],
    ['1', 'a name is expected'],
    ['doc/a:', 'a name is expected behind ":"'],
    ['doc/a:*', 'a name is expected behind ":"'],
  ])('%j cannot be read', (selector, message) => {
    const error = failure(document, diff(`<remove sel="${selector}"/>`));
    expect(error.message).toContain(`Operation [0], remove ${JSON.stringify(selector)}: `);
    expect(error.message).toContain(message);
    expect(error).toMatchObject({
      code: 'patch-invalid',
      status: 400,
      issues: [{ detail: 'invalid-attribute-value' }],
    });
  });

  it.each([
    ['doc/e', 'leads to 2 places'],
    ['doc/*/i', 'leads to 2 places'],
    ['doc/f/text()', 'leads to 2 places'],
    ['*/e/@a', 'leads to 2 places'],
    ['other', 'there is nothing at "other"'],
    ['doc/x/y/z', 'there is nothing at "doc/x"'],
    ['doc/e[3]', 'there is nothing at "doc/e[3]"'],
    ["doc/e[@b='y']", 'there is nothing at'],
    ["doc/e[.='']", 'there is nothing at'],
    ["doc/e[.='on']", 'there is nothing at'],
    ["doc/e[.='ones']", 'there is nothing at'],
    ['doc/@b', 'there is nothing at'],
    ['doc/text()', 'there is nothing at'],
    ['doc/f/text()[3]', 'there is nothing at'],
    ["doc/f/processing-instruction('q')", 'there is nothing at'],
    ['doc/namespace::p', 'there is nothing at'],
    ['comment()', 'there is nothing at'],
    ['@a', 'there is nothing at'],
  ])('%s is not one node', (selector, message) => {
    const error = failure(document, diff(`<remove sel="${selector}"/>`));
    expect(error.message).toContain(message);
    expect(error).toMatchObject({ code: 'patch-target', status: 400, issues: [{ detail: 'unlocated-node' }] });
  });
});

describe('RFC 5261 4.2, namespaces', () => {
  const patient = '<Patient xmlns="http://hl7.org/fhir"><active value="true"/></Patient>';
  const done = patient.replace('true', 'false');

  it.each([
    ['a prefix', '<diff xmlns:f="http://hl7.org/fhir"><replace sel="f:Patient/f:active/@value">false</replace></diff>'],
    [
      'a default namespace',
      '<diff xmlns="http://hl7.org/fhir"><replace sel="Patient/active/@value">false</replace></diff>',
    ],
    [
      'a prefix on the operation',
      '<diff><replace xmlns:f="http://hl7.org/fhir" sel="f:Patient/f:active/@value">false</replace></diff>',
    ],
    [
      'operations with a prefix',
      '<p:diff xmlns:p="urn:p" xmlns="http://hl7.org/fhir"><p:replace sel="Patient/active/@value">false</p:replace></p:diff>',
    ],
    [
      'operations without namespace in a root that has one',
      '<p:diff xmlns:p="urn:p" xmlns:f="http://hl7.org/fhir"><replace sel="f:Patient/f:active/@value">false</replace></p:diff>',
    ],
    ['any name', '<diff><replace sel="*/*/@value">false</replace></diff>'],
  ])('selectors: %s', (_, patch) => {
    expect(apply(patient, patch)).toBe(done);
  });

  it('selectors: no namespace is another than that of the document, and the message says so', () => {
    const error = failure(patient, diff('<replace sel="Patient/active/@value">false</replace>'));
    expect(error.message).toBe(
      'Operation [0], replace "Patient/active/@value": there is nothing at "Patient"; "Patient" is of the namespace "http://hl7.org/fhir", which the patch has to declare',
    );
  });

  it('selectors: an attribute without prefix has no namespace', () => {
    const target = '<p:doc xmlns:p="urn:p" p:a="1" a="2"/>';
    const patch = (sel: string): string =>
      `<diff xmlns="urn:p" xmlns:q="urn:p"><replace sel="${sel}">3</replace></diff>`;
    expect(apply(target, patch('doc/@a'))).toBe('<p:doc xmlns:p="urn:p" p:a="1" a="3"/>');
    expect(apply(target, patch("doc[@q:a='1']/@q:a"))).toBe('<p:doc xmlns:p="urn:p" p:a="3" a="2"/>');
  });

  it.each(['q:doc', 'doc/@q:a', "doc[q:a='1']", "doc[@q:a='1']"])(
    'selectors: %s with a prefix that nothing declares',
    (sel) => {
      const error = failure('<doc xmlns:q="urn:q"/>', diff(`<remove sel="${sel}"/>`));
      expect(error.message).toContain('means nothing; declare it in the patch: xmlns:q="…"');
      expect(error).toMatchObject({ code: 'patch-invalid', issues: [{ detail: 'invalid-namespace-prefix' }] });
    },
  );

  it.each([
    [
      'the prefix of the document',
      '<d:doc xmlns:d="urn:d"/>',
      'xmlns:e="urn:d"',
      'e:doc',
      '<e:x e:y="1" z="2"/>',
      '<d:doc xmlns:d="urn:d"><d:x d:y="1" z="2"/></d:doc>',
    ],
    [
      'the default namespace of the document',
      '<doc xmlns="urn:d"/>',
      'xmlns:e="urn:d"',
      'e:doc',
      '<e:x><e:y/></e:x>',
      '<doc xmlns="urn:d"><x><y/></x></doc>',
    ],
    [
      'a default namespace of the patch',
      '<d:doc xmlns:d="urn:d"/>',
      'xmlns="urn:d"',
      'doc',
      '<x><y/></x>',
      '<d:doc xmlns:d="urn:d"><d:x><d:y/></d:x></d:doc>',
    ],
    [
      'the same prefix',
      '<doc xmlns:e="urn:d" xmlns:d="urn:d"/>',
      'xmlns:e="urn:d"',
      'doc',
      '<e:x/>',
      '<doc xmlns:e="urn:d" xmlns:d="urn:d"><e:x/></doc>',
    ],
    [
      'an unknown namespace is declared',
      '<doc/>',
      'xmlns:e="urn:e"',
      'doc',
      '<e:x e:y="1"><e:z/></e:x>',
      '<doc><e:x xmlns:e="urn:e" e:y="1"><e:z/></e:x></doc>',
    ],
    [
      'an unknown default namespace is declared',
      '<d:doc xmlns:d="urn:d"/>',
      'xmlns="urn:e" xmlns:d="urn:d"',
      'd:doc',
      '<x><y/></x>',
      '<d:doc xmlns:d="urn:d"><x xmlns="urn:e"><y/></x></d:doc>',
    ],
    [
      'a prefix that means something else there',
      '<e:doc xmlns:e="urn:d"/>',
      'xmlns:e="urn:e" xmlns:d="urn:d"',
      'd:doc',
      '<e:x><d:y e:z=""/></e:x>',
      '<e:doc xmlns:e="urn:d"><e1:x xmlns:e1="urn:e"><e:y e1:z=""/></e1:x></e:doc>',
    ],
    [
      'no namespace',
      '<doc xmlns="urn:d"/>',
      'xmlns:d="urn:d"',
      'd:doc',
      '<x><y/></x>',
      '<doc xmlns="urn:d"><x xmlns=""><y/></x></doc>',
    ],
    [
      'what content declares stays',
      '<doc xmlns="urn:d"/>',
      'xmlns:d="urn:d"',
      'd:doc',
      "<div xmlns='urn:x'><b  class='c'>&#65;</b></div>",
      "<doc xmlns=\"urn:d\"><div xmlns='urn:x'><b  class='c'>&#65;</b></div></doc>",
    ],
    [
      'an attribute in the default namespace of the document',
      '<doc xmlns="urn:d"/>',
      'xmlns:d="urn:d"',
      'd:doc',
      '<d:x d:y="1"/>',
      '<doc xmlns="urn:d"><x xmlns:d="urn:d" d:y="1"/></doc>',
    ],
    ['xml:lang', '<doc/>', '', 'doc', '<x xml:lang="en"/>', '<doc><x xml:lang="en"/></doc>'],
  ])('content: %s', (_, document, declarations, sel, content, expected) => {
    const result = apply(
      document,
      `<diff ${declarations.replace('xmlns="', 'xmlns="')}><add sel="${sel}">${content}</add></diff>`,
    );
    expect(result).toBe(expected);
    expect(() => canonical(result)).not.toThrow();
  });

  it.each([
    ['<m:a xmlns:m="urn:x"/>', '<m:a xmlns:m="urn:x" m:c="w"/>'],
    ['<a/>', '<a xmlns:n="urn:x" n:c="w"/>'],
    ['<a xmlns:n="urn:other" n:c="v"/>', '<a xmlns:n="urn:other" xmlns:n1="urn:x" n:c="v" n1:c="w"/>'],
    ['<a xmlns="urn:x"/>', '<a xmlns="urn:x" xmlns:n="urn:x" n:c="w"/>'],
  ])('an attribute added to %s', (document, expected) => {
    expect(apply(document, '<diff xmlns:n="urn:x"><add sel="*" type="@n:c">w</add></diff>')).toBe(expected);
  });

  it('a namespace that is replaced is that of all names with the prefix', () => {
    const target = '<p:doc xmlns:p="urn:p"><p:x/></p:doc>';
    const patch = '<diff xmlns:q="urn:q"><replace sel="*/namespace::p">urn:q</replace><remove sel="q:doc/q:x"/></diff>';
    expect(apply(target, patch)).toBe('<p:doc xmlns:p="urn:q"/>');
  });
});

describe('RFC 5261 4.3 to 4.5, operations', () => {
  it.each([
    ['prepend', '<doc>a<b/></doc>', '<add sel="doc" pos="prepend"><x/>y</add>', '<doc><x/>ya<b/></doc>'],
    ['before the first', '<doc><b/></doc>', '<add sel="doc/b" pos="before">x</add>', '<doc>x<b/></doc>'],
    ['after the last', '<doc><b/></doc>', '<add sel="doc/b" pos="after"><x/><?y?></add>', '<doc><b/><x/><?y?></doc>'],
    ['nothing', '<doc><b/></doc>', '<add sel="doc"/>', '<doc><b/></doc>'],
    [
      'text between texts',
      '<doc>a<b/>c</doc>',
      '<remove sel="doc/b"/><add sel="doc/text()" pos="after">d</add>',
      '<doc>acd</doc>',
    ],
    ['an empty attribute', '<doc/>', '<add sel="doc" type="@a"/>', '<doc a=""/>'],
    [
      'special characters in an attribute',
      '<doc/>',
      '<add sel="doc" type="@a">&lt;"&amp;&#10;\'</add>',
      '<doc a="&lt;&quot;&amp;&#10;\'"/>',
    ],
    [
      'special characters in text',
      '<doc/>',
      '<add sel="doc">&lt;&amp;]]&gt;&#13;</add>',
      '<doc>&lt;&amp;]]&gt;&#13;</doc>',
    ],
    [
      'CDATA is text',
      '<doc>a<![CDATA[<b>]]>c</doc>',
      '<replace sel="doc/text()[1]"><![CDATA[<]]>d</replace>',
      '<doc>&lt;d</doc>',
    ],
    [
      'comments beside the root',
      '<doc/>',
      '<add sel="doc" pos="before"> <!--a--> </add><add sel="doc" pos="after"><?b?></add>',
      '<!--a--><doc/><?b?>',
    ],
    ['a comment before the root is found and goes', '<!--a--><doc/>', '<remove sel="comment()"/>', '<doc/>'],
    ['the root is replaced', '<doc><a/></doc>', '<replace sel="doc">\n<other/>\n</replace>', '<other/>'],
    [
      'white space around the one that replaces',
      '<doc><a/></doc>',
      '<replace sel="doc/a"> <b/> </replace>',
      '<doc><b/></doc>',
    ],
    ['white space before', '<doc>  <a/> </doc>', '<remove sel="doc/a" ws="before"/>', '<doc> </doc>'],
    [
      'white space on both sides',
      '<doc>a<b/> <a/> <c/></doc>',
      '<remove sel="doc/a" ws="both"/>',
      '<doc>a<b/><c/></doc>',
    ],
    ['white space with a comment', '<doc> <!--a-->\t</doc>', '<remove sel="doc/comment()" ws="both"/>', '<doc/>'],
    [
      'a comment in an operation without content',
      '<doc><a/></doc>',
      '<remove sel="doc/a"><!-- gone --></remove>',
      '<doc/>',
    ],
    [
      'what is added can be changed',
      '<doc/>',
      '<add sel="doc"><a/></add><add sel="doc/a" type="@b">1</add><replace sel="doc/a/@b">2</replace>',
      '<doc><a b="2"/></doc>',
    ],
    [
      'a prefix that is declared further in is not in use',
      '<doc xmlns:p="urn:a"><x xmlns:p="urn:b"><p:y/></x></doc>',
      '<remove sel="doc/namespace::p"/>',
      '<doc><x xmlns:p="urn:b"><p:y/></x></doc>',
    ],
  ])('%s', (_, document, operations, expected) => {
    expect(apply(document, diff(operations))).toBe(expected);
  });

  it('comments and instructions between operations say nothing', () => {
    expect(apply('<doc/>', '<?x?><diff> <!-- a --> <?y?> <add sel="doc" type="@a">1</add>\n</diff><!-- end -->')).toBe(
      '<doc a="1"/>',
    );
  });

  it('what a patch does not touch stays as it is, to the character', () => {
    const kept = "<b  x = 'é&#233;'\n>&#x41;<![CDATA[<]]></b ><c></c>";
    const document = `\ufeff${DECLARATION}\n<doc\n  a="1">${kept}</doc>\n`;
    expect(apply(document, diff())).toBe(`<doc\n  a="1">${kept}</doc>`);
    expect(apply(document, diff('<replace sel="doc/@a">2</replace>'))).toBe(`<doc a="2">${kept}</doc>`);
    expect(apply(document, diff('<add sel="doc/c">d</add>'))).toBe(
      `<doc a="1">${kept.replace('<c></c>', '<c>d</c>')}</doc>`,
    );
  });

  it.each([
    ['invalid-attribute-value', 'it has no attribute "sel"', '<add><x/></add>'],
    [
      'invalid-attribute-value',
      '"pos" is one of before, after, prepend, not "append"',
      '<add sel="doc" pos="append"/>',
    ],
    ['invalid-attribute-value', '"ws" is one of before, after, both, not ""', '<remove sel="doc/a" ws=""/>'],
    ['invalid-attribute-value', '"type" is @name or namespace::prefix, not "a"', '<add sel="doc" type="a">1</add>'],
    [
      'invalid-attribute-value',
      '"type" is @name or namespace::prefix, not "a/@b"',
      '<add sel="doc" type="a/@b">1</add>',
    ],
    ['invalid-attribute-value', '"type" is @name or namespace::prefix, not "/@b"', '<add sel="doc" type="/@b">1</add>'],
    ['invalid-attribute-value', 'a name is expected', '<add sel="doc" type="@">1</add>'],
    ['invalid-attribute-value', 'for an attribute use type="@name"', '<add sel="doc/@x">1</add>'],
    ['invalid-patch-directive', 'operations are add, replace and remove', '<move sel="doc/a"/>'],
    ['invalid-patch-directive', 'operations are add, replace and remove', '<constructor sel="doc/a"/>'],
    ['invalid-patch-directive', 'operations are add, replace and remove', '<add xmlns="urn:x" sel="doc"/>'],
    ['invalid-patch-directive', 'add has no attribute "msel"; it has sel, pos, type', '<add msel="doc"/>'],
    ['invalid-patch-directive', 'replace has no attribute "pos"', '<replace sel="doc/a" pos="before"><b/></replace>'],
    ['invalid-patch-directive', 'remove has no attribute "type"', '<remove sel="doc" type="@x"/>'],
    ['invalid-patch-directive', '"pos" is for nodes', '<add sel="doc" pos="before" type="@y">1</add>'],
    ['invalid-patch-directive', 'a text has no children', '<add sel="doc/text()"><x/></add>'],
    ['invalid-patch-directive', 'a comment has no children', '<add sel="doc/comment()" pos="prepend">x</add>'],
    ['invalid-patch-directive', 'only an element has attributes', '<add sel="doc/comment()" type="@x">1</add>'],
    ['invalid-patch-directive', 'has an attribute "x" already', '<add sel="doc" type="@x">2</add>'],
    ['invalid-patch-directive', '"ws" goes with elements', '<remove sel="doc/@x" ws="both"/>'],
    ['invalid-patch-directive', '"ws" goes with elements', '<remove sel="doc/text()" ws="both"/>'],
    ['invalid-patch-directive', '"ws" goes with elements', '<remove sel="doc/namespace::p" ws="both"/>'],
    ['invalid-patch-directive', 'remove has no content', '<remove sel="doc/a">x</remove>'],
    ['invalid-node-types', 'the value of an attribute is text', '<add sel="doc" type="@y"><x/></add>'],
    ['invalid-node-types', 'the value of an attribute is text', '<replace sel="doc/@x">1<!--2--></replace>'],
    [
      'invalid-node-types',
      'only one element can replace the element, and the content is 0 nodes',
      '<replace sel="doc/a"/>',
    ],
    ['invalid-node-types', 'the content is one text', '<replace sel="doc/a">text</replace>'],
    ['invalid-node-types', 'the content is 2 nodes', '<replace sel="doc/a"><b/><c/></replace>'],
    ['invalid-node-types', 'the content is 2 nodes', '<replace sel="doc/a">x<b/></replace>'],
    ['invalid-node-types', 'the content is one instruction', '<replace sel="doc/a"><?b?></replace>'],
    ['invalid-node-types', 'only one comment can replace the comment', '<replace sel="doc/comment()"><b/></replace>'],
    ['invalid-node-types', 'what replaces text is text', '<replace sel="doc/text()"><b/></replace>'],
    ['invalid-node-types', 'a namespace is text', '<add sel="doc" type="namespace::q"><b/></add>'],
    ['invalid-namespace-uri', 'a prefix cannot stand for no namespace', '<add sel="doc" type="namespace::q"> </add>'],
    ['invalid-namespace-uri', 'a prefix cannot stand for no namespace', '<replace sel="doc/namespace::p"/>'],
    [
      'invalid-namespace-uri',
      'has its own prefix',
      '<add sel="doc" type="namespace::q">http://www.w3.org/2000/xmlns/</add>',
    ],
    ['invalid-namespace-prefix', 'has its meaning', '<add sel="doc" type="namespace::xml">urn:q</add>'],
    ['invalid-namespace-prefix', 'has its meaning', '<add sel="doc" type="namespace::xmlns">urn:q</add>'],
    ['invalid-namespace-prefix', 'declares "p" already', '<add sel="doc" type="namespace::p">urn:q</add>'],
    ['invalid-namespace-prefix', 'means nothing', '<add sel="doc" type="@q:x">1</add>'],
    ['invalid-namespace-prefix', 'the prefix "p" is in use', '<remove sel="doc/namespace::p"/>'],
    [
      'invalid-whitespace-directive',
      'no text of white space only before the node',
      '<remove sel="doc/a" ws="before"/>',
    ],
    [
      'invalid-whitespace-directive',
      'no text of white space only on both sides of the node',
      '<remove sel="doc/a" ws="both"/>',
    ],
    ['invalid-whitespace-directive', 'no text of white space only after', '<remove sel="comment()" ws="after"/>'],
    ['invalid-root-element-operation', 'the root element cannot be removed', '<remove sel="doc"/>'],
    ['invalid-root-element-operation', 'there can be only one root element', '<add sel="doc" pos="after"><x/></add>'],
    ['invalid-prolog-operation', 'no text outside the root element', '<add sel="doc" pos="before">x<!--y--></add>'],
  ])('%s: %s', (condition, message, operation) => {
    const document = '<!--0--><doc xmlns:p="urn:p" x="1">t<a p:b="2"/><!--c--></doc>';
    const error = failure(document, `<diff><add sel="doc" type="@first">1</add>${operation}</diff>`);
    expect(error.message).toMatch(/^Operation \[1\], /);
    expect(error.message).toContain(message);
    expect(error.status).toBe(400);
    expect(error.issues[0].detail).toBe(condition);
  });

  it.each([
    ['xml-forbidden', 'Line 1, column', '<!DOCTYPE diff [<!ENTITY a "b">]><diff/>'],
    ['xml-syntax', 'Line 1, column', '<diff><add sel="doc">&nbsp;</add></diff>'],
    ['xml-syntax', 'Line 1, column', '<diff>'],
    ['xml-syntax', 'there is no element', ''],
    ['xml-syntax', 'this is not XML', '[{"op":"add"}]'],
    ['xml-syntax', 'UTF-8', '<?xml version="1.0" encoding="ISO-8859-1"?><diff/>'],
    ['xml-syntax', 'Line 1, column', '<diff><add sel="doc"><x:y/></add></diff>'],
    ['xml-depth', 'elements may be nested 200 deep', `<diff>${'<a>'.repeat(200)}`],
    [
      'patch-invalid',
      'An XML Patch is a <diff> of <add>, <replace> and <remove>, this is a "Patient"',
      '<Patient xmlns="http://hl7.org/fhir"/>',
    ],
    ['patch-invalid', 'There is text between the operations', '<diff>add</diff>'],
  ])('%s: %s', (code, message, patch) => {
    const error = failure('<doc/>', patch);
    expect(error.message).toContain(message);
    expect(error).toMatchObject({ code, status: 400 });
  });
});

describe('Limits of an XML Patch', () => {
  it('operations', () => {
    const patch = (count: number): string => diff('<remove sel="doc/a[1]"/>'.repeat(count));
    const document = `<doc>${'<a/>'.repeat(1001)}</doc>`;
    expect(apply(document, patch(1000))).toBe('<doc><a/></doc>');
    expect(failure(document, patch(1001))).toMatchObject({
      code: 'patch-too-large',
      status: 413,
      message: 'The patch has 1001 operations; 1000 are allowed',
    });
  });

  it('elements within each other, however they got there', () => {
    const nested = (levels: number): string => `${'<x>'.repeat(levels)}${'</x>'.repeat(levels)}`;
    const add = (at: number, levels: number): string => `<add sel="doc${'/x'.repeat(at)}">${nested(levels)}</add>`;
    expect(apply('<doc/>', diff(add(0, 100), add(100, 99)))).toBe(`<doc>${nested(199)}</doc>`);
    const error = failure('<doc/>', diff(add(0, 100), add(100, 100)));
    expect(error).toMatchObject({ code: 'patch-target', status: 400 });
    expect(error.message).toContain('Operation [1], add "doc/x/x');
    expect(error.message).toContain('elements may be nested 200 deep');
  });

  it('a selector that looks at everything again and again', () => {
    const document = `<doc>${'<a><b/></a>'.repeat(50_000)}</doc>`;
    const took = processorTime();
    const error = failure(document, diff(`<remove sel="doc/a${"[b='']".repeat(20_000)}"/>`));
    expect(error).toMatchObject({ code: 'patch-too-large', status: 413 });
    expect(took()).toBeLessThan(10_000);
  });

  it('a long namespace that is declared again and again', () => {
    const operations = '<add sel="doc"><x:a/></add>'.repeat(900);
    const patch = `<diff xmlns:x="urn:${'x'.repeat(100_000)}">${operations}</diff>`;
    expect(failure('<doc/>', patch)).toMatchObject({ code: 'patch-too-large', status: 413 });
  });
});
