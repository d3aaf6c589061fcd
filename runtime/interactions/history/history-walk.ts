import type { HistoryPage, HistoryQuery, StoredVersion } from '../../store/store.js';

/** How a history is walked through where only some of it may be seen. */
export interface HistoryWalk {
  /** A page of the store, everything on it. */
  readonly ask: (query: HistoryQuery) => Promise<HistoryPage>;
  /** Those of them that may be seen. */
  readonly see: (versions: readonly StoredVersion[]) => Promise<readonly StoredVersion[]>;
}

/** Versions that the store is asked for at a time, at most. */
const PIECE = 1000;

/** Versions that are looked at for one page. A page that ends here for want of more to see is not full, but comes. */
const LOOKED = 20_000;

/**
 * Fills a page with what may be seen. There is a next one only where there is more to see, so that what is hidden does not
 * even show by its number.
 */
export async function fillPage(query: HistoryQuery, { ask, see }: HistoryWalk): Promise<Omit<HistoryPage, 'total'>> {
  const seen: StoredVersion[] = [];
  let { after, count } = query;
  let looked = 0;
  let complete = Infinity;
  /** Where the next page begins. */
  let next: string | undefined;
  for (;;) {
    const page = await ask({ ...query, ...(after !== undefined && { after }), count });
    complete = Math.min(complete, page.complete);
    looked += page.versions.length;
    const visible = await see(page.versions);
    if (next === undefined) {
      const room = query.count - seen.length;
      if (visible.length > room) {
        // Asked again up to the last that has room: only the end of a page of the store is a place to go on from.
        count = page.versions.indexOf(visible[room - 1]!) + 1;
        continue;
      }
      seen.push(...visible);
      if (seen.length === query.count) next = page.next;
    } else if (visible.length > 0) return { versions: seen, complete, next };
    after = page.next;
    if (after === undefined) return { versions: seen, complete };
    if (looked >= LOOKED) return { versions: seen, complete, next: next ?? after };
    count = Math.min(PIECE, count * 2);
  }
}

/** How many versions may be seen. */
export async function countVisible(query: HistoryQuery, { ask, see }: HistoryWalk): Promise<number> {
  let number = 0;
  for (let after: string | undefined; ;) {
    const page: HistoryPage = await ask({ ...query, ...(after !== undefined && { after }), count: PIECE });
    number += (await see(page.versions)).length;
    after = page.next;
    if (after === undefined) return number;
  }
}
