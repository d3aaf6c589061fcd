import type { InlineFormat } from './pages-inline.js';
import { escapeHtml } from './pages-html.js';

/** Writes inline text as GitHub Flavored Markdown, in paragraphs and lists. https://github.github.com/gfm/ */
export const markdownFormat: InlineFormat = {
  text: escapeMarkdown,
  code: (text) => codeSpan(text, false),
  mark: (text) => `_${escapeMarkdown(text)}_`,
  link,
  newLine: '<br>',
  file: (page) => (page === 'index' ? 'README.md' : `${page}.md`),
};

/** The same for cells of tables, where bars have to be escaped, even in code. */
export const markdownCellFormat: InlineFormat = {
  ...markdownFormat,
  code: (text) => codeSpan(text, true),
};

/** Text on one line, with all Markdown syntax escaped. */
export function escapeMarkdown(text: string): string {
  if (!/[\\`*_[<>&|~\r\n\t]/.test(text)) return text;
  return (
    text
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/[\\`*[|~]/g, '\\$&')
      .replaceAll(/[<>&]/g, escapeHtml)
      // An underscore within a word is no syntax.
      .replaceAll(/(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\_')
  );
}

/** Escapes syntax of a heading, list or quotation at the start of a paragraph or list item. */
export function guardStart(text: string): string {
  return text.replace(/^[#+\-=]/, '\\$&').replace(/^(\d+)([.)])/, '$1\\$2');
}

/**
 * Code. Text that cannot be within backticks, or that Markdown programs parse differently, goes into an HTML element,
 * escaped character by character.
 */
function codeSpan(text: string, inCell: boolean): string {
  const flat = text.replaceAll(/\s+/g, ' ').trim();
  if (!/[`\\<&]/.test(flat)) return `\`${inCell ? flat.replaceAll('|', '\\|') : flat}\``;
  const escaped = escapeHtml(flat).replaceAll(/[\\`*_[\]|~]/g, (character) => `&#${String(character.charCodeAt(0))};`);
  return `<code>${escaped}</code>`;
}

const UNSAFE: Readonly<Record<string, string>> = {
  ' ': '%20',
  '(': '%28',
  ')': '%29',
  '<': '%3C',
  '>': '%3E',
  '\\': '%5C',
  '|': '%7C',
};

function link(text: string, target: string): string {
  const safe = target.replaceAll(/[ ()<>\\|]/g, (character) => UNSAFE[character] ?? '');
  return `[${escapeMarkdown(text).replaceAll(']', '\\]')}](${safe})`;
}
