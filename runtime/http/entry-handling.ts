import { scopeTargetOf } from '../auth/access/scope-rows.js';
import { parseQuery } from '../fhir/parse-query.js';
import { execute } from '../interactions/execute.js';
import type { EntryHandling } from '../core/services.js';
import { checkUrlId, type Router } from './router.js';

/** Entries of Bundles go the way of requests. */
export function createEntryHandling(router: Pick<Router, 'find'>): EntryHandling {
  return {
    route(method, url) {
      const mark = url.indexOf('?');
      const { row, ...place } = router.find(method, mark < 0 ? url : url.slice(0, mark));
      checkUrlId(row.interaction, place.id);
      return { ...scopeTargetOf(row), ...place, params: parseQuery(mark < 0 ? '' : url.slice(mark + 1)) };
    },
    handle: execute,
  };
}
