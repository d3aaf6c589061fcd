import { template } from '../engine.js';
import { framedPage, type Page } from '../framed.js';
import type { Paths, Site } from '../site.js';

const render = template<{ paths: Paths; search: string }>('explain-search');

/** The page that asks for a search and leads to its plan. @param search to begin with */
export function explainPage(search: string, site: Site, paths: Paths): Page {
  return framedPage(site, paths, 'Explain a search', render({ paths, search }));
}
