import type { FindQuery, Store, StoredVersion } from '../../store/store.js';

/** All matches of a query. Each page is read from a snapshot of its own. @throws the signal's reason once it is aborted */
export async function* findAll(
  query: FindQuery,
  find: Store['find'],
  signal: AbortSignal | undefined,
): AsyncGenerator<StoredVersion> {
  for (let after: string | undefined; ;) {
    signal?.throwIfAborted();
    const page = await find(after === undefined ? query : { ...query, after }, signal);
    yield* page.versions;
    if (page.next === undefined) return;
    after = page.next;
  }
}
