import { template } from '../engine.js';
import { framedPage, type Page } from '../framed.js';
import type { Paths, Site } from '../site.js';

const render = template<{ paths: Paths; path: string; methods: readonly { name: string; isChosen: boolean }[] }>(
  'console',
);

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** The page that sends any request to the FHIR base and shows the answer as it came. It needs the script. @param path to begin with */
export function consolePage(path: string, method: string, site: Site, paths: Paths): Page {
  const methods = METHODS.map((name) => ({ name, isChosen: name === method }));
  return framedPage(site, paths, 'Console', render({ paths, path: path === '' ? 'Patient?_count=5' : path, methods }));
}
