import { clip } from '../../fhir/quote.js';
/**
 * The rules of narratives: which elements and attributes of XHTML they may have, and that they say something. The texts have
 * been found well-formed before. https://hl7.org/fhir/R5/narrative.html#xhtml
 */

/** Chapters 7 to 11 (without forms) and 15 of HTML 4.0. */
const ELEMENTS: ReadonlySet<string> = new Set(
  (
    'div p br h1 h2 h3 h4 h5 h6 a span b em i strong small big tt dfn q var abbr acronym cite blockquote hr address bdo kbd ' +
    'sub sup ul ol li dl dt dd pre table caption colgroup col thead tr tfoot tbody th td code samp img map area ins del s u ' +
    'strike center font'
  ).split(' '),
);

/** Attributes of any element. */
const ATTRIBUTES: ReadonlySet<string> = new Set(
  (
    'title style class id lang xml:lang dir accesskey tabindex xmlns ' +
    'span width align valign char charoff abbr axis headers scope rowspan colspan'
  ).split(' '),
);

/** Attributes of single elements. */
const OWN_ATTRIBUTES: ReadonlySet<string> = new Set(
  (
    'a.href a.name a.charset a.type a.hreflang a.rel a.rev a.shape a.coords a.target ' +
    'img.src img.alt img.longdesc img.height img.width img.usemap img.ismap img.border ' +
    'blockquote.cite q.cite ins.cite del.cite ins.datetime del.datetime map.name ' +
    'area.shape area.coords area.href area.nohref area.alt ' +
    'table.summary table.border table.frame table.rules table.cellspacing table.cellpadding table.bgcolor table.height ' +
    'tr.bgcolor td.bgcolor th.bgcolor td.nowrap th.nowrap td.height th.height tr.height ' +
    'pre.space ol.type ol.start ul.type li.value li.type hr.size hr.noshade font.color font.size font.face br.clear'
  ).split(' '),
);

/** Attributes that hold a URL. */
const URLS: ReadonlySet<string> = new Set(['href', 'src', 'cite', 'longdesc']);

/** The publisher of HL7 marks what it writes with these attributes, in the packages of HL7 too. They say nothing to browsers. */
const OF_PUBLISHER = /^data-fhir(?:-[a-z-]+)?$/;

const ATTRIBUTE = /([^\s=/"'<>]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
/** The rest of a tag behind its name. */
const REST = /(?:[^>"']|"[^"]*"|'[^']*')*/y;
const NAME = /[^\s/>]*/y;
/** Comments and sections, which are no markup. */
const SECTIONS = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
] as const;

/** How nearly every narrative begins. */
const OPENING = '<div xmlns="http://www.w3.org/1999/xhtml">';

/** Returns the first thing in a narrative that is forbidden there (txt-1); undefined: there is none. */
export function forbiddenInNarrative(div: string): string | undefined {
  const begin = div.startsWith(OPENING) ? OPENING.length : 0;
  for (let at = div.indexOf('<', begin); at >= 0; at = div.indexOf('<', at)) {
    const section = div.charAt(at + 1) === '!' ? SECTIONS.find(([begin]) => div.startsWith(begin, at)) : undefined;
    if (section !== undefined) {
      at = Math.max(div.indexOf(section[1], at + section[0].length), at + 1);
      continue;
    }
    at++;
    if (div.charAt(at) === '/') continue;
    NAME.lastIndex = at;
    NAME.test(div);
    const element = div.slice(at, NAME.lastIndex);
    at = NAME.lastIndex;
    const forbidden = div.charAt(at) === '>' ? forbiddenElement(element) : forbiddenTag(element, restOf(div, at));
    if (forbidden !== undefined) return forbidden;
  }
  return undefined;
}

function restOf(div: string, at: number): string {
  REST.lastIndex = at;
  REST.test(div);
  return div.slice(at, REST.lastIndex);
}

function forbiddenElement(qualified: string): string | undefined {
  if (ELEMENTS.has(qualified)) return undefined;
  const element = qualified.replace(/^.*:/, '');
  return ELEMENTS.has(element) ? undefined : `the element "${clip(element)}"`;
}

function forbiddenTag(qualified: string, attributes: string): string | undefined {
  const forbidden = forbiddenElement(qualified);
  if (forbidden !== undefined) return forbidden;
  const element = qualified.replace(/^.*:/, '');
  for (const [, name = '', quoted, single] of attributes.matchAll(ATTRIBUTE)) {
    if (name.startsWith('xmlns:') || OF_PUBLISHER.test(name)) continue;
    if (!ATTRIBUTES.has(name) && !OWN_ATTRIBUTES.has(`${element}.${name}`)) {
      return `the attribute "${clip(name)}" of "${element}"`;
    }
    if (URLS.has(name) && isHarmful(quoted ?? single ?? '')) {
      return `the address ${JSON.stringify(clip(quoted ?? single ?? ''))} in "${name}" of "${element}"`;
    }
  }
  return undefined;
}

/** Addresses that run something where they are shown. */
function isHarmful(url: string): boolean {
  // White space, control characters and references hide the scheme from people and not from browsers.
  // eslint-disable-next-line no-control-regex
  const plain = decodeReferences(url).replace(/[\s\u0000-\u001f]+/g, '').toLowerCase(); // prettier-ignore
  return /^(?:javascript|vbscript|data(?=:)(?!:image\/(?:png|jpeg|jpg|gif|bmp|webp|svg\+xml)[;,])):/.test(plain);
}

function decodeReferences(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|(amp));/gi, (whole, hex, decimal, name) => {
    if (hex !== undefined || decimal !== undefined) {
      const code = Number.parseInt(String(hex ?? decimal), hex === undefined ? 10 : 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    }
    return name === undefined ? whole : '&';
  });
}

/** Whether a narrative says something (txt-2): text, or an image. */
export function saysSomething(div: string): boolean {
  if (hasPlainText(div)) return true;
  if (/<(?:[^\s/>]+:)?img[\s/>]/.test(div)) return true;
  return decodeReferences(div.replace(/<!--[\s\S]*?-->/g, '').replace(/<!\[CDATA\[([\s\S]*?)\]\]>/g, '$1').replace(/<[^>]*>/g, '')).trim() !== ''; // prettier-ignore
}

/** Whether there is a character of text before the first comment, section or reference. Most narratives are decided by that. */
function hasPlainText(div: string): boolean {
  for (let at = 0; at < div.length; at++) {
    const code = div.charCodeAt(at);
    if (code === LESS_THAN) {
      const end = div.charAt(at + 1) === '!' ? -1 : div.indexOf('>', at);
      if (end < 0) return false;
      at = end;
    } else if (code === AMPERSAND) return false;
    else if (code > 0x20 && code < 0x7f) return true;
  }
  return false;
}

const LESS_THAN = 0x3c;
const AMPERSAND = 0x26;
