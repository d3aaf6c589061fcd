import type { Model } from '../model/model.js';
import { kebab } from '../model/names.js';
import type { Page } from './artefact.js';
import type { PageData } from './pages-data.js';
import { indexPage, operationsPage, primitivesPage, scopesPage } from './pages-index.js';
import { Linker } from './pages-inline.js';
import { typePage } from './pages-type.js';
import { owners } from './type-tables.js';

/** The single pages: their titles in the navigation, and their emitters. */
const SINGLE = [
  ['index', 'Index', indexPage],
  ['operations', 'Operations', operationsPage],
  ['scopes', 'Scopes', scopesPage],
  ['primitives', 'Primitive types', primitivesPage],
] as const;

/** `markdown` is checked in, as part of `generated/`; `html` is made by the build, for the server. */
export type PageFormat = 'markdown' | 'html';

/** Reference pages in one format: one for each type, and the single pages. */
export function emitPages(model: Model, format: PageFormat): Page[] {
  const linker = new Linker(model);
  const single = SINGLE.map(([name, , make]) => onePage(format, name, model.package, make(model, linker)));
  const types = [...owners(model)].map(([owner, structures]) =>
    onePage(format, kebab(owner), structures[0]?.url ?? '', typePage(structures, model, linker)),
  );
  return [...single, ...types, ...(format === 'html' ? [style(model)] : [])];
}

function onePage(format: PageFormat, name: string, source: string, page: Omit<PageData, 'navigation'>): Page {
  const navigation = SINGLE.map(([single, text]) => ({ link: [{ page: single, text }], current: single === name }));
  const data: PageData = { ...page, navigation };
  const file =
    format === 'html'
      ? { path: `docs/${name}.html`, template: 'page.html.template' }
      : { path: `docs/${name === 'index' ? 'README' : name}.md`, template: 'page.md.template' };
  return { kind: 'page', ...file, source, data };
}

function style(model: Model): Page {
  return { kind: 'page', path: 'docs/style.css', template: 'style.css', source: model.package, data: {} };
}
