import { append } from '../../fhir/lists.js';
import type { HistoryPage, HistoryQuery, StoredVersion } from '../../store/store.js';

/** Access to a history of which the client may see only a part. */
export interface HistoryWalk {
  /** Reads a page from the store, with hidden versions. */
  readonly ask: (query: HistoryQuery) => Promise<HistoryPage>;
  /** Selects the versions that the client may see. */
  readonly see: (versions: readonly StoredVersion[]) => Promise<readonly StoredVersion[]>;
}

/** Greatest number of versions per request to the store. */
const PIECE = 1000;

/** Greatest number of versions read for one page. A page that reaches this limit is returned even if it is not full. */
const LOOKED = 20_000;

/**
 * Fills a page with visible versions. There is a next page only if more versions are visible, so that not even the number
 * of hidden ones shows.
 */
export async function fillPage(query: HistoryQuery, { ask, see }: HistoryWalk): Promise<Omit<HistoryPage, 'total'>> {
  const seen: StoredVersion[] = [];
  let { after, count } = query;
  let looked = 0;
  let complete = Infinity;
  /** Cursor of the next page. */
  let next: string | undefined;
  for (;;) {
    const page = await ask({ ...query, ...(after !== undefined && { after }), count });
    complete = Math.min(complete, page.complete);
    looked += page.versions.length;
    const visible = await see(page.versions);
    if (next === undefined) {
      const room = query.count - seen.length;
      if (visible.length > room) {
        // Read again up to the last version that fits: cursors exist only for the end of a page of the store.
        count = page.versions.indexOf(visible[room - 1]!) + 1;
        continue;
      }
      append(seen, visible);
      if (seen.length === query.count) next = page.next;
    } else if (visible.length > 0) return { versions: seen, complete, next };
    after = page.next;
    if (after === undefined) return { versions: seen, complete };
    if (looked >= LOOKED) return { versions: seen, complete, next: next ?? after };
    count = Math.min(PIECE, count * 2);
  }
}

/** Number of visible versions. */
export async function countVisible(query: HistoryQuery, { ask, see }: HistoryWalk): Promise<number> {
  let number = 0;
  for (let after: string | undefined; ;) {
    const page: HistoryPage = await ask({ ...query, ...(after !== undefined && { after }), count: PIECE });
    number += (await see(page.versions)).length;
    after = page.next;
    if (after === undefined) return number;
  }
}
