import { neededOn } from '../../auth/access/needed-scopes.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import { visibleTypes } from '../../auth/access/visible.js';
import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import type { Reach } from '../../auth/scopes/reach.js';
import type { HistoryPage, HistoryQuery } from '../../store/store.js';
import type { Call } from '../../core/call.js';
import { countVisible, fillPage, type HistoryWalk } from './history-walk.js';
import { withinBudget } from '../../core/search/search-budget.js';
import type { Services } from '../../core/services.js';
import { isJudged, isVisible, visibleVersions } from '../../core/access/visibility.js';

/** A page of what a client may see of a history. */
export type VisiblePage = Omit<HistoryPage, 'total'> & {
  /** The same on all pages; absent: contents decide what may be seen, and one page is not all. */
  readonly total?: number;
};

/**
 * A page of a history as the client may see it: an instance within `r`, types within `s`. What is hidden fills no page and
 * counts nowhere. Where contents decide, only a history of one page has a total, or who asks for nothing else: one that were told
 * where it takes little would tell how much is hidden.
 *
 * @param known the total that the first page told
 * @throws FhirError `too-costly` where only the total is asked for, and finding it takes too long
 */
export async function visibleHistory(
  query: HistoryQuery,
  call: Call,
  services: Services,
  known?: number,
): Promise<VisiblePage> {
  const { store, limits, tables } = services;
  const { access } = call.principal;
  if (access === OPEN_ACCESS) return store.history(query, call.signal);
  const { type } = query;
  const letter = query.id === undefined ? 's' : 'r';
  const reach = (each: string): Reach => access.on(each, letter);
  const all = type === undefined ? tables.resourceTypes : [type];
  const types = visibleTypes(all, reach);
  if (types.length === 0) throw scopeMissing(neededOn(type ?? '*', letter));
  const within = types.length === all.length ? query : { ...query, types };
  const judged = types.filter((each) => isJudged(each, reach(each)));
  if (judged.length === 0) {
    const { total, ...page } = await store.history(within, call.signal);
    // A place of the store holds the total of whom it was made for.
    const told = query.after === undefined ? total : known;
    return { ...page, ...(told !== undefined && { total: told }) };
  }
  return withinBudget(limits.queryTime, call.signal, async (signal) => {
    const walk: HistoryWalk = {
      ask(asked) {
        signal?.throwIfAborted();
        return store.history(asked, signal);
      },
      see: (versions) => visibleVersions(versions, reach, call, services),
    };
    if (query.count > 0) {
      const page = await fillPage(within, walk);
      const isAll = query.after === undefined && page.next === undefined;
      return { ...page, ...(isAll && { total: page.versions.length }) };
    }
    const { complete } = await walk.ask(within);
    const { after: _after, ...from } = query;
    // What is not judged the store counts.
    const whole = types.filter((each) => !judged.includes(each));
    const others = whole.length === 0 ? 0 : (await walk.ask({ ...from, types: whole, count: 0 })).total;
    const own = await countVisible(type === undefined ? { ...from, types: judged } : from, walk);
    return { versions: [], complete, total: others + own };
  });
}

/** Whether anything of an instance may be seen: else it is as if it were not there. */
export async function hasVisibleHistory(
  { type, id }: Pick<HistoryQuery, 'type' | 'id'>,
  call: Call,
  services: Services,
): Promise<boolean> {
  if (type === undefined || id === undefined) return true;
  const current = await services.store.read(type, id);
  if (current === undefined) return false;
  if (await isVisible(current, 'r', call, services)) return true;
  const { versions } = await visibleHistory({ type, id, count: 1 }, call, services);
  return versions.length > 0;
}
