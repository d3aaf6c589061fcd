import type { Model } from '../model/model.js';
import { kebab, tail } from '../model/names.js';
import { joined, type Inline, type Span } from './pages-data.js';

/** Lists with at least this many names show only their number. */
const MANY = 20;

/** Renders names: as a link if there is a page. */
export class Linker {
  /** Page and anchor of each type that has one. */
  readonly #places = new Map<string, { readonly page: string; readonly anchor?: string }>();
  readonly #resources: number;

  constructor(model: Model) {
    for (const { name } of model.primitives) this.#places.set(name, { page: 'primitives', anchor: name });
    for (const { name, owner } of model.structures) {
      this.#places.set(name, name === owner ? { page: kebab(owner) } : { page: kebab(owner), anchor: name });
    }
    this.#resources = model.capabilities.length;
  }

  /** A type by name; `label` is the text of the link. */
  type(name: string, label = name): Span {
    const place = this.#places.get(name);
    return place === undefined ? { code: label } : { ...place, text: label };
  }

  /** Types by name; only their number if there are very many. */
  types(names: readonly string[]): Inline {
    if (names.length >= this.#resources) return 'any resource';
    if (names.length > MANY) return `any of ${String(names.length)} types`;
    return joined(
      names.map((name) => [this.type(name)]),
      ', ',
    );
  }
}

/** A link to a canonical, labelled with its last segment. Those of our own are below the base of the server that serves them. */
export function canonicalLink(url: string, own = false, label = tail(url)): Span {
  if (own) return { code: `[base]/${url}` };
  return /^https?:/.test(url) ? { href: url, text: label } : { code: url };
}

const MARKUP = /`([^`\n]+)`|\[([^\]\n]*)\]\(([^)\s]+)\s*\)/g;

/**
 * Text of a definition, which may be Markdown: code and links are kept, all else is plain text. Of links relative to the
 * site of the specification only the text is kept, because they would not resolve here.
 */
export function prose(text: string): Inline {
  const flat = /\s\s|[^\S ]|^\s|\s$/.test(text) ? text.replaceAll(/\s+/g, ' ').trim() : text;
  if (!/[`[]/.test(flat)) return flat;
  const found: Span[] = [];
  let end = 0;
  for (const match of flat.matchAll(MARKUP)) {
    const [whole, code, label = '', href = ''] = match;
    if (match.index > end) found.push(flat.slice(end, match.index));
    if (code !== undefined) found.push({ code });
    else found.push(/^https?:\/\//.test(href) ? { href, text: label } : label);
    end = match.index + whole.length;
  }
  if (end < flat.length) found.push(flat.slice(end));
  return found;
}
