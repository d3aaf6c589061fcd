/**
 * What people read in a narrative, one text for each of its blocks (paragraphs, cells, lines): without tags and comments,
 * its entities resolved. Never throws, and time grows with the length only; of what is no XHTML it makes what it can.
 * https://hl7.org/fhir/R5/narrative.html#xhtml
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
    TAG.lastIndex = tag;
    const name = TAG.exec(xhtml)?.[1]?.toLowerCase();
    at = name === undefined ? tag + 1 : TAG.lastIndex;
    if (name === undefined) block += ' ';
    else if (!INLINE.has(name)) {
      blocks.push(block);
      block = '';
    }
  }
  blocks.push(block);
  return blocks.map(resolve).filter((text) => text.trim() !== '');
}

const TAG = /<\/?([A-Za-z][A-Za-z0-9]*)(?:"[^"<]*"|'[^'<]*'|[^'"<>])*>/y;

/** Elements that stand within a line: what is before and behind them may be one word. */
const INLINE: ReadonlySet<string> = new Set(
  'a abbr acronym b bdo big cite code dfn em font i kbd q s samp small span strike strong sub sup tt u var'.split(' '),
);

function resolve(text: string): string {
  return text.includes('&') ? text.replace(ENTITY, toCharacter) : text;
}

const ENTITY = /&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|(amp|lt|gt|quot|apos));/gi;
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function toCharacter(_entity: string, hex?: string, decimal?: string, name?: string): string {
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? ' ';
  const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return point <= 0x10ffff ? String.fromCodePoint(point) : ' ';
}
