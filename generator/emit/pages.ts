import type { Model } from '../model/model.js';
import { kebab } from '../model/names.js';
import type { Artefact } from './artefact.js';
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

/** Reference pages in Markdown and HTML: one for each type, and the single pages. */
export function emitPages(model: Model): Artefact[] {
  const linker = new Linker(model);
  const single = SINGLE.flatMap(([name, , make]) => bothFormats(name, model.package, make(model, linker)));
  const types = [...owners(model)].flatMap(([owner, structures]) =>
    bothFormats(kebab(owner), structures[0]?.url ?? '', typePage(structures, model, linker)),
  );
  return [...single, ...types, style(model)];
}

function bothFormats(name: string, source: string, page: Omit<PageData, 'navigation'>): Artefact[] {
  const navigation = SINGLE.map(([single, text]) => ({ link: [{ page: single, text }], current: single === name }));
  const data: PageData = { ...page, navigation };
  return [
    { kind: 'page', path: `docs/${name === 'index' ? 'README' : name}.md`, template: 'page.md.template', source, data },
    { kind: 'page', path: `docs/${name}.html`, template: 'page.html.template', source, data },
  ];
}

function style(model: Model): Artefact {
  return { kind: 'page', path: 'docs/style.css', template: 'style.css', source: model.package, data: {} };
}
