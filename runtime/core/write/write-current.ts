import type { Change, Store, StoredVersion } from '../../store/store.js';
import { commit } from './commit.js';

/** What came of a change: the version before it, and the new one, if the decision was to write. */
export interface Written {
  readonly before: StoredVersion | undefined;
  readonly after: StoredVersion | undefined;
}

/**
 * Reads the current version, has a change decided on it, and commits that (`commit`).
 *
 * @param decide the change, or undefined: nothing to write. May throw what a client has to be told
 * @throws FhirError `version-conflict` where others keep winning, `store-busy` where too many are before it
 */
export async function writeCurrent(
  store: Store,
  type: string,
  id: string,
  decide: (current: StoredVersion | undefined) => Promise<Change | undefined> | Change | undefined,
): Promise<Written> {
  const { result, written } = await commit(store, [`${type}/${id}`], async () => {
    const before = await store.read(type, id);
    const change = await decide(before);
    return { changes: change === undefined ? [] : [change], result: before };
  });
  return { before: result, after: written[0] };
}
