import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Handlebars from 'handlebars';
import type { Page } from '../emit/artefact.js';
import type { Inline } from '../emit/pages-data.js';
import { projectRoot } from '../project-root.js';
import { header } from './header.js';
import { breakable, htmlFormat } from './pages-html.js';
import { printInline } from './pages-inline.js';
import { guardStart, markdownCellFormat, markdownFormat } from './pages-markdown.js';

/** Prints Markdown and HTML pages with the templates in `generator/print/templates`. */
export function printPages(pages: readonly Page[], origin: string): [string, string][] {
  const templates = new Map<string, HandlebarsTemplateDelegate>();
  return pages.map((page) => {
    const template = templates.get(page.template) ?? compile(page.template);
    templates.set(page.template, template);
    return [page.path, template({ header: headerLines(page.source, origin), origin, page: page.data })];
  });
}

/** The lines of the header without comment syntax. They go into HTML comments, where two hyphens have to be avoided. */
function headerLines(source: string, origin: string): string[] {
  return header(source, origin)
    .split('\n')
    .map((line) =>
      line
        .replace(/^\/\/ /, '')
        .replaceAll('--', '- -')
        .replaceAll('*/', '* /'),
    );
}

/**
 * Helpers of the templates: `inline`, and in tables `head` for the first cell of a row and `cells` for the others, each
 * between two texts. An `#each` for each of 100,000 cells would cost more than all else. All write the format of the page.
 */
function compile(name: string): HandlebarsTemplateDelegate {
  const text = readFileSync(join(projectRoot(), 'generator/print/templates', name), 'utf8');
  const html = name.includes('.html');
  const cellFormat = html ? htmlFormat : markdownCellFormat;
  const headFormat = html ? { ...htmlFormat, text: breakable } : markdownCellFormat;
  const safe = (printed: string) => new Handlebars.SafeString(printed);
  const engine = Handlebars.create();
  engine.registerHelper('inline', (inline: Inline) =>
    safe(html ? printInline(inline, htmlFormat) : guardStart(printInline(inline, markdownFormat))),
  );
  engine.registerHelper('head', (inline: Inline) => safe(printInline(inline, headFormat)));
  engine.registerHelper('cells', (cells: readonly Inline[], before: string, after: string) =>
    safe(cells.map((cell) => before + printInline(cell, cellFormat) + after).join('')),
  );
  const knownHelpers = { inline: true, head: true, cells: true };
  return engine.compile(text, { strict: true, noEscape: !html, knownHelpers, knownHelpersOnly: true });
}
