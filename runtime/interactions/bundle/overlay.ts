import type { IndexEntry } from '../../search/entry.js';
import { matches, type Candidate } from '../../search/query/match.js';
import type { Condition } from '../../search/query/query.js';
import type { StoredVersion } from '../../store/store.js';
import type { Matches, WriteView } from '../write-plan.js';

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
export function overlay(store: WriteView, now: number = Date.now()): Overlay {
  const types = new Map<string, OfType>();
  const ofType = (type: string): OfType => {
    let found = types.get(type);
    if (found === undefined) types.set(type, (found = new OfType(now)));
    return found;
  };
  return {
    read: (type, id) => store.read(type, id),
    async match(type, where, most) {
      const own = types.get(type);
      if (own === undefined) return store.match(type, where, most);
      // Some of what the store finds may be gone, or changed so that it is not found any more. Mostly none of it is.
      for (let count = most; ; count *= 4) {
        const { found, guard } = await store.match(type, where, count);
        const laid = own.lay(found, where).slice(0, most);
        if (laid.length === most || found.length < count) return { found: laid, guard };
      }
    },
    remove(type, id) {
      ofType(type).touched.add(id);
    },
    put(draft) {
      ofType(draft.type).put(draft);
    },
  };
}

/** Entries of one type. */
class OfType {
  /** Ids of resources that are not as the store has them. */
  readonly touched = new Set<string>();
  private readonly drafts: (Draft & Candidate)[] = [];
  /** Places in `drafts` by parameter and code, so that thousands of identifiers can be looked for in thousands. */
  private readonly byToken = new Map<string, Set<number>>();

  constructor(private readonly now: number) {}

  put(draft: Draft): void {
    this.touched.add(draft.id);
    const place = this.drafts.push({ ...draft, lastUpdated: this.now }) - 1;
    for (const entry of draft.entries) {
      if (entry.kind !== 'token' || entry.code === undefined) continue;
      const key = tokenKey(entry.param, entry.code);
      const places = this.byToken.get(key);
      if (places === undefined) this.byToken.set(key, new Set([place]));
      else places.add(place);
    }
  }

  /** In the order of ids, as a store finds them. */
  lay(stored: readonly StoredVersion[], where: Condition): Matches['found'] {
    const left = stored.filter(({ id }) => !this.touched.has(id));
    const own = this.candidates(where).filter((draft) => matches(where, draft));
    if (own.length === 0) return left;
    const all = [
      ...left,
      ...own.map(({ type, id, version }) => ({ type, id, version, lastUpdated: this.now, json: '' })),
    ];
    return all.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  private candidates(where: Condition): readonly (Draft & Candidate)[] {
    const keys = tokensOf(where);
    if (keys === undefined) return this.drafts;
    const places = new Set(keys.flatMap((key) => [...(this.byToken.get(key) ?? [])]));
    return [...places].flatMap((place) => this.drafts[place] ?? []);
  }
}

/** Tokens of which a resource has to have one; undefined: the condition asks for other things. */
function tokensOf(where: Condition): readonly string[] | undefined {
  if ('all' in where) return firstOf(where.all.map(tokensOf));
  if (!('any' in where)) return undefined;
  const keys = where.any.flatMap((test) =>
    test.is === 'token' && test.code !== undefined ? [tokenKey(where.param, test.code)] : [],
  );
  return keys.length === where.any.length ? keys : undefined;
}

function firstOf<T>(values: readonly (T | undefined)[]): T | undefined {
  return values.find((value) => value !== undefined);
}

function tokenKey(param: string, code: string): string {
  return `${param}\n${code}`;
}
