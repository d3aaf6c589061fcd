import type { Page } from '../pages/framed.js';
import type { PageWriter } from '../pages/page.js';
import type { PageRequest, Site } from '../pages/site.js';

/** Pages for browsers. What makes them is loaded when the first is asked for. */
export interface Pages {
  /** The page that answers a request for FHIR data. */
  open(request: PageRequest): Promise<PageWriter>;
  /** The page at the root of the server. */
  landing(base: string): Promise<Page>;
}

/** The pages of a server. */
export function createPages(site: Site): Pages {
  return {
    async open(request) {
      const { openPage } = await import('../pages/page.js');
      return openPage(request, site);
    },
    async landing(base) {
      const { landingPage } = await import('../pages/landing-page.js');
      return landingPage(base, site);
    },
  };
}
