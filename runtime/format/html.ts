import { createHash } from 'node:crypto';

/** Media type of pages. */
export const HTML_TYPE = 'text/html; charset=utf-8';

const STYLE = `
:root { color-scheme: light dark; }
body { margin: 2rem auto; max-width: 70rem; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
pre { overflow-x: auto; font: 0.875rem/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
`;

/**
 * Headers of every page: it runs no script, loads nothing, sends no form, cannot be framed, and tells other sites nothing. Its own
 * style sheet is allowed by its hash.
 */
export const PAGE_HEADERS: readonly string[] = [
  'Content-Security-Policy',
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; ` +
    `base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'Referrer-Policy',
  'no-referrer',
];

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text as it appears in HTML, between tags or between quotation marks: nothing in it is markup. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ESCAPES[sign]!);
}

/** What a page begins with, up to the content of its body. @param title a text, to be escaped */
export function pageHead(title: string): string {
  return (
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n' +
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n' +
    `<title>${escapeHtml(title)}</title>\n<style>${STYLE}</style>\n</head>\n<body>\n<main>\n<h1>${escapeHtml(title)}</h1>\n`
  );
}

/** What a page ends with. */
export const PAGE_TAIL = '\n</main>\n</body>\n</html>\n';

/** A page that shows a text as it is. @param parts of the text, in a row */
export function* writeTextPage(title: string, parts: Iterable<string>): Generator<string> {
  yield `${pageHead(title)}<pre>`;
  for (const part of parts) yield escapeHtml(part);
  yield `</pre>${PAGE_TAIL}`;
}
