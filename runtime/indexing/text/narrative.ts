import { ENTITIES } from './entities.js';

/**
 * Returns the texts that people read in a narrative, one for each of its blocks (paragraphs, cells, lines): without
 * tags, comments, scripts and styles, with entities resolved. Never throws, and takes time that grows with the length
 * only. Of text that is no XHTML it reads as much as it can. https://hl7.org/fhir/R5/narrative.html#xhtml
 */
export function blocksOf(xhtml: string): string[] {
  const blocks: string[] = [];
  let block = '';
  let at = 0;
  while (at < xhtml.length) {
    const tag = xhtml.indexOf('<', at);
    block += xhtml.slice(at, tag < 0 ? undefined : tag);
    if (tag < 0) break;
    if (xhtml.startsWith('<!--', tag)) {
      const end = xhtml.indexOf('-->', tag + 4);
      if (end < 0) break;
      at = end + 3;
      continue;
    }
    const end = endOfTag(xhtml, tag);
    at = end ?? tag + 1;
    if (end === undefined) block += ' ';
    else {
      const name = nameAt(xhtml, tag);
      if (INLINE.has(name)) continue;
      if (block !== '') blocks.push(block);
      block = '';
      const silent = isOpening(xhtml, tag, end) ? SILENT.get(name) : undefined;
      if (silent === undefined) continue;
      silent.lastIndex = end;
      // What is never closed goes on to the end, as in browsers.
      at = silent.exec(xhtml)?.index ?? xhtml.length;
    }
  }
  blocks.push(block);
  return blocks.map(resolve).filter((text) => /\S/.test(text));
}

/** Where a tag ends that begins here; undefined: none does. Quotation marks come in pairs, and no tag has another in it. */
function endOfTag(xhtml: string, start: number): number | undefined {
  const name = nameStart(xhtml, start);
  if (!isLetter(xhtml.charCodeAt(name))) return undefined;
  let quote = 0;
  for (let at = name; at < xhtml.length; at++) {
    const unit = xhtml.charCodeAt(at);
    if (unit === LESS) return undefined;
    if (quote !== 0) quote = unit === quote ? 0 : quote;
    else if (unit === GREATER) return at + 1;
    else if (unit === DOUBLE || unit === SINGLE) quote = unit;
  }
  return undefined;
}

function nameStart(xhtml: string, tag: number): number {
  return xhtml.charCodeAt(tag + 1) === SLASH ? tag + 2 : tag + 1;
}

/** The name of the tag that begins here, in lower case. */
function nameAt(xhtml: string, tag: number): string {
  const start = nameStart(xhtml, tag);
  let end = start;
  for (let unit = xhtml.charCodeAt(end); isLetter(unit) || isDigit(unit); unit = xhtml.charCodeAt(++end));
  return xhtml.slice(start, end).toLowerCase();
}

const [LESS, GREATER, DOUBLE, SINGLE, SLASH] = [0x3c, 0x3e, 0x22, 0x27, 0x2f];

function isLetter(unit: number): boolean {
  return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a);
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

/** Elements that are within a line: what is before and behind them may be one word. */
const INLINE: ReadonlySet<string> = new Set(
  'a abbr acronym b bdo big cite code dfn em font i kbd q s samp small span strike strong sub sup tt u var'.split(' '),
);

/** Elements whose content is for machines, and what ends it. */
const SILENT: ReadonlyMap<string, RegExp> = new Map([
  ['script', /<\/script/gi],
  ['style', /<\/style/gi],
]);

/** Whether the tag between these places begins an element that ends elsewhere. */
function isOpening(xhtml: string, tag: number, end: number): boolean {
  return xhtml.charCodeAt(tag + 1) !== SLASH && xhtml.charCodeAt(end - 2) !== SLASH;
}

function resolve(text: string): string {
  return text.includes('&') ? text.replace(ENTITY, toCharacter) : text;
}

const ENTITY = /&(?:#[xX]([0-9a-fA-F]{1,6})|#([0-9]{1,7})|([A-Za-z][A-Za-z0-9]{1,7}));/g;

function toCharacter(entity: string, hex?: string, decimal?: string, name?: string): string {
  if (name !== undefined) return ENTITIES.get(name) ?? entity;
  const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return point <= 0x10ffff ? String.fromCodePoint(point) : ' ';
}
