import { parseQuery } from '../fhir/parse-query.js';
import { execute } from '../interactions/execute.js';
import type { EntryHandling } from '../core/services.js';
import { checkUrlId, type Router } from './router.js';

/** Entries of Bundles go the way of requests. */
export function createEntryHandling(router: Pick<Router, 'find'>): EntryHandling {
  return {
    route(method, url) {
      const mark = url.indexOf('?');
      const {
        row: { interaction },
        ...place
      } = router.find(method, mark < 0 ? url : url.slice(0, mark));
      checkUrlId(interaction, place.id);
      return { interaction, ...place, params: parseQuery(mark < 0 ? '' : url.slice(mark + 1)) };
    },
    handle: execute,
  };
}
