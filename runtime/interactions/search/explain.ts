import { authorize } from '../../search-execution/authorize/authorize.js';
import type { Call } from '../../core/call.js';
import { explainSearch, type ExplainedSearch } from '../../search-execution/explain/explain-search.js';
import type { Services } from '../../core/services.js';
import { authorizeSearch, parseSearch } from './search.js';

/** Types that the plan of one search over several explains: each costs a search. */
const TYPES_AT_MOST = 20;

/** Whether a call is a search. */
export function isSearch({ interaction }: Pick<Call, 'interaction'>): boolean {
  return interaction === 'search-type' || interaction === 'search-system' || interaction === 'search-compartment';
}

/**
 * Explains a search instead of answering it. It needs the scopes of the search; a page link is explained as its first page.
 *
 * @throws FhirError as the search itself
 */
export async function explain(call: Call, services: Services): Promise<ExplainedSearch> {
  authorize(call, call.principal.access, services);
  const asked = await parseSearch(call, services);
  const bounds = await authorizeSearch(asked, call, services);
  const { scope, request, walk } = asked;
  const read = { scope, request, now: walk.began };
  return explainSearch(read, bounds, services, { atMost: TYPES_AT_MOST, signal: call.signal });
}
