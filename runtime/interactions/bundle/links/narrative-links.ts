import { FhirError } from '../../../fhir/errors.js';
import { escapeAttribute } from '../../../format/xml/escape.js';

/** Links to entries that one resource of a transaction may have: all are looked at in one turn. */
export const MOST_LINKS = 10_000;

/** Elements of a narrative with a URL, and the attribute that has it. No attribute has a `<`: so each search for the end stops at the next one. */
const ELEMENT = /<(?:a|img)\b(?:"[^"<]*"|'[^'<]*'|[^<>"'])*>/gi;
const ATTRIBUTE = /(\s(?:href|src)\s*=\s*)("[^"]*"|'[^']*')/gi;

/**
 * The entries that links and images of a narrative refer to, by the text of the link.
 * https://hl7.org/fhir/R5/http.html#trules
 *
 * @throws FhirError `transaction-too-large`
 */
export function narrativeTargets(div: string, find: (text: string) => number | undefined): ReadonlyMap<string, number> {
  const targets = new Map<string, number>();
  let count = 0;
  if (!/\b(?:href|src)\b/i.test(div)) return targets;
  for (const [element] of div.matchAll(ELEMENT)) {
    for (const [, , quoted = ''] of element.matchAll(ATTRIBUTE)) {
      const { place } = split(quoted);
      const entry = place === '' ? undefined : find(place);
      if (entry === undefined) continue;
      targets.set(place, entry);
      if (++count > MOST_LINKS) {
        throw new FhirError('transaction-too-large', `A narrative may have ${MOST_LINKS} links to entries`);
      }
    }
  }
  return targets;
}

/** The narrative with its links replaced. @param nameOf the replacement of a link; undefined to keep it */
export function replaceLinks(div: string, nameOf: (text: string) => string | undefined): string {
  return div.replace(ELEMENT, (element) =>
    element.replace(ATTRIBUTE, (whole, start: string, quoted: string) => {
      const { place, rest } = split(quoted);
      const name = nameOf(place);
      return name === undefined ? whole : `${start}"${escapeAttribute(name + rest) ?? ''}"`;
    }),
  );
}

/** The predefined entities of XML, and character references by number. https://www.w3.org/TR/xml/#sec-references */
const ENTITY = /&(?:(amp|lt|gt|quot|apos)|#(?:x([0-9a-fA-F]+)|([0-9]+)));/g;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decode(text: string): string {
  return text.replace(ENTITY, (whole, name?: string, hex?: string, decimal?: string) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = hex === undefined ? Number(decimal) : parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** Splits a URL before its fragment (`#…`), which is kept as a position in the resource. */
function split(quoted: string): { readonly place: string; readonly rest: string } {
  const text = decode(quoted.slice(1, -1)).trim();
  const hash = text.indexOf('#');
  return hash < 0 ? { place: text, rest: '' } : { place: text.slice(0, hash), rest: text.slice(hash) };
}
