import type { Yield } from '../../../fhir/yield-to-event-loop.js';
import type { IndexEntry } from '../../../search/entry.js';
import { matches } from '../../../search/query/match.js';
import type { Condition } from '../../../search/query/query.js';
import type { StoredVersion } from '../../../store/store.js';
import { findsAny } from '../../../core/store-view.js';
import type { WriteView } from '../../../core/write/write-plan.js';
import { DraftIndex } from './draft-index.js';
import type { CachingView } from './caching-view.js';

/** A pending version of a resource that an entry will write. */
export interface Draft {
  readonly type: string;
  readonly id: string;
  /** The version that it will have. */
  readonly version: number;
  readonly entries: readonly IndexEntry[];
}

/** The store with the pending changes of earlier entries. */
export interface Overlay extends WriteView {
  /** Adds a deletion. */
  remove(type: string, id: string): void;
  /** Adds a write. Its index entries may be empty if no entry of the Bundle searches the type. */
  put(draft: Draft): void;
}

/**
 * Lays the changes of a transaction over the store: conditions see the changes of earlier entries.
 * https://hl7.org/fhir/R5/http.html#trules
 *
 * @param now `lastUpdated` of pending versions, in milliseconds since the epoch
 */
export function overlay(
  store: Pick<CachingView, 'read' | 'match' | 'matchOthers'>,
  yieldIfDue: Yield,
  now: number = Date.now(),
): Overlay {
  const types = new Map<string, OfType>();
  const ofType = (type: string): OfType => {
    let found = types.get(type);
    if (found === undefined) types.set(type, (found = new OfType(now, yieldIfDue)));
    return found;
  };
  const match: Overlay['match'] = async (type, where, most) => {
    const own = types.get(type);
    if (own === undefined) return store.match(type, where, most);
    // A match in the store may have been deleted, or changed so that it no longer matches.
    const { found, precondition } = await store.matchOthers(type, where, most, (id) => own.touched.has(id));
    const drafts = await own.find(where, most);
    if (drafts.length === 0) return { found, precondition };
    const all = [...found, ...drafts].sort((a, b) => (a.id < b.id ? -1 : 1));
    return { found: all.slice(0, most), precondition };
  };
  return {
    read: (type, id) => store.read(type, id),
    match,
    finds: (type, where) => findsAny(match(type, where, 1)),
    remove(type, id) {
      ofType(type).touched.add(id);
    },
    put(draft) {
      ofType(draft.type).put(draft);
    },
  };
}

/** Candidates between two checks whether to yield. */
const STRIDE = 64;

/** Pending changes of one type. */
class OfType {
  /** Ids of resources with pending changes. */
  readonly touched = new Set<string>();
  private readonly drafts = new DraftIndex<Draft & { readonly lastUpdated: number }>();

  constructor(
    private readonly now: number,
    private readonly yieldIfDue: Yield,
  ) {}

  put(draft: Draft): void {
    this.touched.add(draft.id);
    this.drafts.add({ ...draft, lastUpdated: this.now });
  }

  /** At most `most` drafts that fulfil a condition. */
  async find(where: Condition, most: number): Promise<readonly StoredVersion[]> {
    const found: StoredVersion[] = [];
    let looked = 0;
    for (const { draft, shown } of this.drafts.candidates(where)) {
      if (found.length >= most) break;
      if (++looked % STRIDE === 0) await this.yieldIfDue();
      if (!matches(where, shown)) continue;
      const { type, id, version, lastUpdated } = draft;
      found.push({ type, id, version, lastUpdated, json: '' });
    }
    return found;
  }
}
