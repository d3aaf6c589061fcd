import { checkAborted } from '../../../fhir/yield-until.js';
import { printCondition } from '../../../search/query/print.js';
import type { Condition } from '../../../search/query/query.js';
import type { ResourceKey, Store, StoredVersion } from '../../../store/store.js';
import { findsAny } from '../../../core/store-view.js';
import type { Matches, WriteView } from '../../../core/write/write-plan.js';
import { openBodyRoom, type BodyRoom } from '../body-budget.js';
import { CriterionWalk, type WalkContext } from './criterion-walk.js';

/** Resources per read: their bodies are in memory together. */
const PIECE = 100;

/** A resource to read in advance. */
export interface WantedKey extends ResourceKey {
  /** Whether its body is needed, not only its version. */
  readonly isWhole: boolean;
}

/** The store as seen by one attempt of a transaction. Each lookup is made once. */
export interface CachingView extends WriteView {
  /** As `match`, without the skipped resources. @param isSkipped tests an id; an id skipped once must always be skipped */
  matchOthers(type: string, where: Condition, most: number, isSkipped: (id: string) => boolean): Promise<Matches>;
  /** A version that this view returned, with its body. */
  whole: BodyRoom['whole'];
}

/**
 * Makes a view, and reads the given resources in a few requests. Bodies beyond the budget are empty (see `whole`).
 *
 * @param keys the resources to read in advance
 * @param signal when it aborts, no further request is made
 */
export async function cachingView(
  store: Pick<Store, 'read' | 'readMany' | 'readVersion' | 'find'>,
  keys: readonly WantedKey[],
  signal?: AbortSignal,
): Promise<CachingView> {
  const bodies = openBodyRoom(store);
  const context: WalkContext = { store, bodies, count: { beyond: 0 }, signal };
  const versions = new Map<string, StoredVersion | undefined>();
  for (let from = 0; from < keys.length; from += PIECE) {
    checkAborted(signal);
    const piece = keys.slice(from, from + PIECE);
    const read = await store.readMany(piece);
    for (const [i, { type, id, isWhole }] of piece.entries()) {
      const version = read[i];
      versions.set(`${type}/${id}`, version && (isWhole ? bodies.keep(version) : bodies.head(version)));
    }
  }
  const walks = new Map<string, CriterionWalk>();
  const matchOthers: CachingView['matchOthers'] = (type, where, most, isSkipped) => {
    const key = `${type}?${printCondition(where)}`;
    let walk = walks.get(key);
    if (walk === undefined) walks.set(key, (walk = new CriterionWalk(type, where, context)));
    return walk.first(most, isSkipped);
  };
  return {
    async read(type, id) {
      const name = `${type}/${id}`;
      if (versions.has(name)) return versions.get(name);
      const version = await store.read(type, id);
      return version && bodies.keep(version);
    },
    match: (type, where, most) => matchOthers(type, where, most, () => false),
    finds: (type, where) => findsAny(matchOthers(type, where, 1, () => false)),
    matchOthers,
    whole: (version) => bodies.whole(version),
  };
}
