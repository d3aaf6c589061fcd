import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Handlebars from 'handlebars';
import type { Page } from '../emit/artefact.js';
import { projectRoot } from '../project-root.js';

/** Prints Markdown and HTML pages with the templates in `generator/print/templates`. */
export function printPages(pages: readonly Page[], origin: string): [string, string][] {
  const templates = new Map<string, HandlebarsTemplateDelegate>();
  return pages.map((page) => {
    let template = templates.get(page.template);
    if (template === undefined) {
      const text = readFileSync(join(projectRoot(), 'generator/print/templates', page.template), 'utf8');
      template = Handlebars.compile(text, { strict: true, noEscape: page.path.endsWith('.md') });
      templates.set(page.template, template);
    }
    return [page.path, template({ origin, page: page.data })];
  });
}
