import type { Yield } from '../../../fhir/yield-to-event-loop.js';
import type { IndexEntry } from '../../../search/entry.js';
import { matches } from '../../../search/query/match.js';
import type { Condition } from '../../../search/query/query.js';
import type { StoredVersion } from '../../../store/store.js';
import { findsAny } from '../../../core/store-view.js';
import type { WriteView } from '../../../core/write/write-plan.js';
import { DraftIndex } from './draft-index.js';
import type { CachingView } from './caching-view.js';

/** What an entry makes of a resource, before it is written. */
export interface Draft {
  readonly type: string;
  readonly id: string;
  /** The version that it will have. */
  readonly version: number;
  readonly entries: readonly IndexEntry[];
}

/** The store together with what earlier entries make of it. */
export interface Overlay extends WriteView {
  /** An entry deletes a resource. */
  remove(type: string, id: string): void;
  /** An entry writes a resource; without entries nobody searches its type in this Bundle. */
  put(draft: Draft): void;
}

/**
 * Lays the entries of a transaction over the store: conditions see what those before them did.
 * https://hl7.org/fhir/R5/http.html#trules
 *
 * @param now the time of what is not written yet, in milliseconds since the epoch
 */
export function overlay(
  store: Pick<CachingView, 'read' | 'match' | 'matchOthers'>,
  pace: Yield,
  now: number = Date.now(),
): Overlay {
  const types = new Map<string, OfType>();
  const ofType = (type: string): OfType => {
    let found = types.get(type);
    if (found === undefined) types.set(type, (found = new OfType(now, pace)));
    return found;
  };
  const match: Overlay['match'] = async (type, where, most) => {
    const own = types.get(type);
    if (own === undefined) return store.match(type, where, most);
    // Some of what the store finds may be gone, or changed so that it is not found any more.
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

/** Candidates between two looks at the clock. */
const STRIDE = 64;

/** Entries of one type. */
class OfType {
  /** Ids of resources that are not as the store has them. */
  readonly touched = new Set<string>();
  private readonly drafts = new DraftIndex<Draft & { readonly lastUpdated: number }>();

  constructor(
    private readonly now: number,
    private readonly pace: Yield,
  ) {}

  put(draft: Draft): void {
    this.touched.add(draft.id);
    this.drafts.add({ ...draft, lastUpdated: this.now });
  }

  /** Some that fulfil a condition, no more than `most`. */
  async find(where: Condition, most: number): Promise<readonly StoredVersion[]> {
    const found: StoredVersion[] = [];
    let looked = 0;
    for (const { draft, shown } of this.drafts.candidates(where)) {
      if (found.length >= most) break;
      if (++looked % STRIDE === 0) await this.pace();
      if (!matches(where, shown)) continue;
      const { type, id, version, lastUpdated } = draft;
      found.push({ type, id, version, lastUpdated, json: '' });
    }
    return found;
  }
}
