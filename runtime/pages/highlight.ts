import { Decimal } from '../fhir/decimal.js';
import type { JsonObject, JsonValue } from '../fhir/resource.js';
import type { LinkOf } from './links.js';

/** Spaces of a level. */
const STEP = '  ';

/** A text between tags. Quotation marks need no escape there. */
function escapeText(text: string): string {
  // A regular expression gives a flat string; `replaceAll` of a text gives one of many pieces, which costs more later.
  return /[&<>]/.test(text) ? text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;') : text;
}

/** A text between quotation marks of an attribute. */
export function escapeAttribute(text: string): string {
  return escapeText(text).replace(/"/g, '&quot;');
}

/** Characters that JSON or HTML escapes. */
// eslint-disable-next-line no-control-regex
const ESCAPED = /["\\<>&\u0000-\u001f\ud800-\udfff]/;

function stringJson(text: string): string {
  return ESCAPED.test(text) ? escapeText(JSON.stringify(text)) : `"${text}"`;
}

/** Names of properties as they are shown: the same few come again and again. */
const names = new Map<string, string>();
const NAMES_AT_MOST = 2000;

function nameJson(name: string): string {
  const known = names.get(name);
  if (known !== undefined) return known;
  const shown = `<span class="k">${stringJson(name)}</span>: `;
  if (names.size < NAMES_AT_MOST) names.set(name, shown);
  return shown;
}

/**
 * Indented JSON as HTML: what `writeJson` writes, with names and numbers marked, and references as links. Strings are what is left,
 * so that they need no mark.
 */
export function highlightJson(value: JsonValue, linkOf: LinkOf, indent = ''): string {
  if (typeof value === 'string') return stringJson(value);
  if (value === null || typeof value !== 'object' || value instanceof Decimal) {
    return `<span class="n">${String(value)}</span>`;
  }
  return Array.isArray(value) ? highlightList(value, linkOf, indent) : highlightObject(value, linkOf, indent);
}

function highlightList(values: readonly JsonValue[], linkOf: LinkOf, indent: string): string {
  if (values.length === 0) return '[]';
  const inner = indent + STEP;
  let out = '[';
  let separator = '\n';
  for (const value of values) {
    out += separator + inner + highlightJson(value, linkOf, inner);
    separator = ',\n';
  }
  return `${out}\n${indent}]`;
}

function highlightObject(object: JsonObject, linkOf: LinkOf, indent: string): string {
  const inner = indent + STEP;
  let out = '{';
  let separator = '\n';
  for (const name of Object.keys(object)) {
    const value = object[name]!;
    const shown =
      name === 'reference' && typeof value === 'string'
        ? referenceJson(value, linkOf)
        : highlightJson(value, linkOf, inner);
    out += separator + inner + nameJson(name) + shown;
    separator = ',\n';
  }
  return separator === '\n' ? '{}' : `${out}\n${indent}}`;
}

function referenceJson(reference: string, linkOf: LinkOf): string {
  const text = stringJson(reference);
  const link = linkOf(reference);
  return link === undefined ? text : `<a href="${escapeAttribute(link)}">${text}</a>`;
}

/** Tags, comments and declarations of XML, and what is between them. */
const XML = /<(\/?)([\w:.-]+)([^<>]*?)(\/?)>|<[^>]*>?|[^<]+/g;

/** `name="value"`. */
const ATTRIBUTE = /([\w:.-]+)=("[^"]*"|'[^']*')/g;

/** XML as HTML, with the kinds of its parts marked, and references as links. @param text well-formed */
export function highlightXml(text: string, linkOf: LinkOf): string {
  return text.replace(
    XML,
    (part: string, end: string | undefined, name: string | undefined, attributes = '', close = '') => {
      if (name === undefined) return escapeText(part);
      return `&lt;${end ?? ''}<span class="k">${escapeText(name)}</span>${highlightAttributes(attributes, name, linkOf)}${close}&gt;`;
    },
  );
}

function highlightAttributes(text: string, element: string, linkOf: LinkOf): string {
  let out = '';
  let from = 0;
  for (const match of text.matchAll(ATTRIBUTE)) {
    const [whole, name = '', value = ''] = match;
    const shown = `<span class="s">${escapeText(value)}</span>`;
    const link = element === 'reference' && name === 'value' ? linkOf(value.slice(1, -1)) : undefined;
    out += escapeText(text.slice(from, match.index));
    out += `<span class="a">${escapeText(name)}</span>=${link === undefined ? shown : `<a href="${escapeAttribute(link)}">${shown}</a>`}`;
    from = match.index + whole.length;
  }
  return out + escapeText(text.slice(from));
}
