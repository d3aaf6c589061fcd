import { neededOn } from '../../auth/access/needed-scopes.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import { visibleTypes } from '../../auth/access/visible.js';
import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import type { Reach } from '../../auth/scopes/reach.js';
import type { HistoryPage, HistoryQuery } from '../../store/store.js';
import type { Call } from '../../core/call.js';
import { countVisible, fillPage, type HistoryWalk } from './history-walk.js';
import { withinBudget } from '../../search-execution/execute/search-budget.js';
import type { Services } from '../../core/services.js';
import { isJudged, isVisible, visibleVersions } from '../../core/access/visibility.js';

/** A page of what a client may see of a history. */
export type VisiblePage = Omit<HistoryPage, 'total'> & {
  /** The same on all pages; absent if visibility depends on contents and there are several pages. */
  readonly total?: number;
};

/**
 * A page of a history with the versions that the client may see: an instance needs the scope `r`, types need `s`. Hidden
 * versions take no space on a page and are not counted. If visibility depends on contents, there is a total only when all
 * versions fit on one page or the client asks for nothing else: a total given only when it is cheap to find would disclose
 * how much is hidden.
 *
 * @param known the total on the first page
 * @throws FhirError `too-costly` if the client asks for the total alone, and counting takes too long
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
  if (types.length === 0) throw scopeMissing(neededOn(type ?? '*', letter), access);
  const within = types.length === all.length ? query : { ...query, types };
  const judged = types.filter((each) => isJudged(each, reach(each)));
  if (judged.length === 0) {
    const { total, ...page } = await store.history(within, call.signal);
    // A cursor of the store holds the total for the scopes that it was made for.
    const sameTotal = query.after === undefined ? total : known;
    return { ...page, ...(sameTotal !== undefined && { total: sameTotal }) };
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
    // The store counts the types whose visibility does not depend on contents.
    const whole = types.filter((each) => !judged.includes(each));
    const others = whole.length === 0 ? 0 : (await walk.ask({ ...from, types: whole, count: 0 })).total;
    const own = await countVisible(type === undefined ? { ...from, types: judged } : from, walk);
    return { versions: [], complete, total: others + own };
  });
}

/** Whether the client may see any version of an instance. If not, the answer is that of an instance that does not exist. */
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
