import type { Change, Store, StoredVersion } from '../../store/store.js';
import { commit, type CommitOptions, type Decision } from './commit.js';

/** Result of `writeCurrent`: the version before the change, and the new one if anything was written. */
export interface Written {
  readonly before: StoredVersion | undefined;
  readonly after: StoredVersion | undefined;
}

/**
 * Reads the current version, decides on a change, and commits it (`commit`).
 *
 * @param decide returns the change, or undefined to write nothing; its errors are those of `writeCurrent`
 * @throws FhirError `version-conflict` and `store-busy` as `commit`
 */
export async function writeCurrent(
  store: Store,
  type: string,
  id: string,
  decide: (current: StoredVersion | undefined) => Promise<Change | undefined> | Change | undefined,
  options: Pick<CommitOptions, 'answerTime'> = {},
): Promise<Written> {
  const decideOnCurrent = async (): Promise<Decision<StoredVersion | undefined>> => {
    const before = await store.read(type, id);
    const change = await decide(before);
    return { changes: change === undefined ? [] : [change], result: before };
  };
  const { result, written } = await commit(store, [`${type}/${id}`], decideOnCurrent, options);
  return { before: result, after: written[0] };
}
