import type { InlineFormat } from './pages-inline.js';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text for HTML, within elements and within quoted attributes. */
export function escapeHtml(text: string): string {
  return /[&<>"']/.test(text) ? text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '') : text;
}

/** Text for HTML that may be broken after each dot, as long paths must be. */
export function breakable(text: string): string {
  return escapeHtml(text).replaceAll('.', '.<wbr>');
}

/** HTML. */
export const htmlFormat: InlineFormat = {
  text: escapeHtml,
  code: (text) => `<code>${escapeHtml(text)}</code>`,
  mark: (text) => `<small>${escapeHtml(text)}</small>`,
  link: (text, target) => `<a href="${escapeHtml(target)}">${escapeHtml(text)}</a>`,
  newLine: '<br>',
  file: (page) => `${page}.html`,
};
