import { patient, right, wrong, type HardCase } from './hard-case.js';

const NS = 'xmlns="http://www.w3.org/1999/xhtml"';
const narrative = (div: unknown, status: unknown = 'generated'): object => patient({ text: { status, div } });
const inside = (html: string): object => narrative(`<div ${NS}>${html}</div>`);

const RIGHT = [
  'text',
  '<p>a<br/>b</p>',
  '<p style="color: red" class="a" id="b" title="c" lang="de" xml:lang="de" dir="ltr">x</p>',
  '<table border="1" cellpadding="1" cellspacing="0" summary="a" width="1"><caption>a</caption><colgroup><col width="1"/></colgroup><thead><tr><th colspan="2" scope="col">a</th></tr></thead><tbody><tr><td rowspan="1" align="left" valign="top">b</td></tr></tbody></table>',
  '<ul><li>a</li></ul><ol start="2" type="a"><li>b</li></ol><dl><dt>a</dt><dd>b</dd></dl>',
  '<h1>a</h1><h6>b</h6><hr/><pre>c</pre><blockquote>d</blockquote>',
  '<b>a</b><i>b</i><em>c</em><strong>d</strong><small>e</small><big>f</big><tt>g</tt><sub>h</sub><sup>i</sup><code>j</code><q>k</q><abbr title="l">m</abbr>',
  '<a href="http://x.org" title="a">a</a><a name="b">b</a><a href="#c">c</a>',
  '<img src="#c" alt="x"/>',
  '<img src="data:image/png;base64,YQ==" alt="x"/>',
  '<!-- comment -->a',
  'a &lt; b &amp; c &#160; &#xA0;',
  '<span>a</span><div>b</div>',
];

const WRONG: Readonly<Record<string, string>> = {
  'a script': '<script>x</script>a',
  'an event handler': '<p onclick="x()">a</p>',
  'a frame': '<iframe src="http://x.org"></iframe>a',
  'a form': '<form action="x"><input name="a"/></form>a',
  'an input': '<input name="a"/>a',
  'an object': '<object data="x"></object>a',
  'an applet': '<applet>a</applet>',
  'a base': '<base href="http://x.org"/>a',
  'a link': '<link rel="stylesheet" href="x"/>a',
  'a style sheet': '<style>p {}</style>a',
  meta: '<meta http-equiv="refresh" content="0"/>a',
  'head and body': '<head><title>x</title></head><body>a</body>',
  'an element that there is not': '<blink2>a</blink2>',
  'an attribute that there is not': '<p foo="bar">a</p>',
  'a link to a script': '<a href="javascript:alert(1)">a</a>',
  audio: '<audio src="x"></audio>a',
  svg: '<svg xmlns="http://www.w3.org/2000/svg"/>a',
  'an entity of HTML': 'a&nbsp;b',
  'a tag that does not close': '<p>a',
  'br that does not close': 'a<br>b',
  'tags across': '<b><i>a</b></i>',
  nothing: '',
  'white space': ' \n\t ',
  'an empty paragraph': '<p></p><p> </p>',
  'an attribute without quotes': '<p class=a>b</p>',
  'an attribute twice': '<p class="a" class="b">b</p>',
  'a bare ampersand': 'a & b',
  'a bare less-than': 'a < b',
  'capital letters': '<P>a</P>',
};

/** https://hl7.org/fhir/R5/narrative.html */
export const NARRATIVE_CASES: readonly HardCase[] = [
  ...RIGHT.map((html) => right(html.slice(0, 60), inside(html))),
  ...Object.entries(WRONG).map(([name, html]) => wrong(name, inside(html))),
  wrong('no namespace', narrative('<div>a</div>')),
  wrong('another namespace', narrative('<div xmlns="http://hl7.org/fhir">a</div>')),
  wrong('another root', narrative(`<p ${NS}>a</p>`)),
  wrong('plain text', narrative('a')),
  wrong('two roots', narrative(`<div ${NS}>a</div><div ${NS}>b</div>`)),
  wrong('text after the root', narrative(`<div ${NS}>a</div>b`)),
  wrong('a declaration', narrative(`<?xml version="1.0"?><div ${NS}>a</div>`)),
  wrong('DOCTYPE', narrative(`<!DOCTYPE html><div ${NS}>a</div>`)),
  wrong('no status', patient({ text: { div: `<div ${NS}>a</div>` } })),
  wrong('no div', patient({ text: { status: 'generated' } })),
  wrong('a status that there is not', narrative(`<div ${NS}>a</div>`, 'made')),
  wrong('an empty div', narrative('')),
  wrong('a div that is no text', narrative({ p: 'a' })),
];
