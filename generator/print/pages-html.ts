import type { InlineFormat } from './pages-inline.js';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text escaped for HTML elements and quoted attributes. */
export function escapeHtml(text: string): string {
  return /[&<>"']/.test(text) ? text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '') : text;
}

/** Text escaped for HTML, with a possible line break after each dot, for long paths. */
export function breakable(text: string): string {
  return escapeHtml(text).replaceAll('.', '.<wbr>');
}

/** Writes inline text as HTML. */
export const htmlFormat: InlineFormat = {
  text: escapeHtml,
  code: (text) => `<code>${escapeHtml(text)}</code>`,
  mark: (text) => `<small>${escapeHtml(text)}</small>`,
  link: (text, target) => `<a href="${escapeHtml(target)}">${escapeHtml(text)}</a>`,
  newLine: '<br>',
  file: (page) => `${page}.html`,
};
