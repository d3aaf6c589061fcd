import { template } from '../engine.js';
import { framedPage, type Page } from '../framed.js';
import type { Paths, Site } from '../site.js';

const render = template<{ paths: Paths; view: string }>('views');

/** To begin with. */
const VIEW = {
  ...{ resourceType: 'ViewDefinition', status: 'active', resource: 'Patient' },
  select: [
    {
      column: [
        { name: 'id', path: 'getResourceKey()', type: 'string' },
        { name: 'family', path: 'name.first().family', type: 'string' },
        { name: 'gender', path: 'gender', type: 'code' },
        { name: 'birth_date', path: 'birthDate', type: 'date' },
      ],
    },
  ],
};

/** The page that runs views of SQL on FHIR and shows their tables. It needs the script. */
export function viewsPage(site: Site, paths: Paths): Page {
  return framedPage(site, paths, 'Views', render({ paths, view: JSON.stringify(VIEW, undefined, 2) }));
}
