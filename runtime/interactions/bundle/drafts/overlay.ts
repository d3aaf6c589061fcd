import { FhirError } from '../../../fhir/errors.js';
import type { Yield } from '../../../fhir/yield-to-event-loop.js';
import type { IndexEntry } from '../../../indexing/entry.js';
import { matches } from '../../../search/query/match.js';
import { type Condition, type ValueTest, valuedBy } from '../../../search/query/query.js';
import type { StoredVersion } from '../../../store/store.js';
import { findsAny } from '../../../core/store-view.js';
import type { WriteView } from '../../../core/write/write-plan.js';
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
  const comparisons = { compared: 0 };
  const ofType = (type: string): OfType => {
    let found = types.get(type);
    if (found === undefined) types.set(type, (found = new OfType(now, yieldIfDue, comparisons)));
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

/**
 * Greatest number of index entries that the criteria of a transaction are compared with: about as many as 2,000 conditional
 * entries have. Criteria of exact values are compared with the few drafts that have the value.
 */
export const MAX_COMPARED = 100_000_000;

/** Counts what the criteria of one transaction are compared with. */
interface Comparisons {
  compared: number;
}

type Candidate = Draft & { readonly lastUpdated: number };

/** Pending changes of one type. */
class OfType {
  /** Ids of resources with pending changes. */
  readonly touched = new Set<string>();
  private readonly drafts: Candidate[] = [];
  private readonly byValue = new Map<string, Set<Candidate>>();

  constructor(
    private readonly now: number,
    private readonly yieldIfDue: Yield,
    private readonly comparisons: Comparisons,
  ) {}

  put(draft: Draft): void {
    this.touched.add(draft.id);
    const candidate = { ...draft, lastUpdated: this.now };
    this.drafts.push(candidate);
    for (const key of draft.entries.flatMap(keysOfEntry)) {
      const known = this.byValue.get(key);
      if (known === undefined) this.byValue.set(key, new Set([candidate]));
      else known.add(candidate);
    }
  }

  /** At most `most` drafts that fulfil a condition. @throws FhirError `transaction-too-large` */
  async find(where: Condition, most: number): Promise<readonly StoredVersion[]> {
    const found: StoredVersion[] = [];
    let looked = 0;
    for (const draft of this.exact(where) ?? this.drafts) {
      if (found.length >= most) break;
      if (++looked % STRIDE === 0) await this.yieldIfDue();
      this.comparisons.compared += 1 + draft.entries.length;
      if (this.comparisons.compared > MAX_COMPARED) throw tooManyComparisons();
      if (!matches(where, draft)) continue;
      const { type, id, version, lastUpdated } = draft;
      found.push({ type, id, version, lastUpdated, json: '' });
    }
    return found;
  }

  /** The drafts that have a value which the condition requires; undefined if it requires none. */
  private exact(where: Condition): ReadonlySet<Candidate> | undefined {
    if ('all' in where) {
      const sets = where.all.flatMap((each) => this.exact(each) ?? []);
      return sets.length === 0 ? undefined : sets.reduce((least, each) => (each.size < least.size ? each : least));
    }
    if (!('any' in where)) return undefined;
    const keys = where.any.map((test) => keyOfTest(test));
    if (!keys.every((key) => key !== undefined)) return undefined;
    const sets = valuedBy(where).flatMap((param) => keys.map((key) => this.byValue.get(`${param} ${key}`) ?? NONE));
    const [only] = sets;
    return sets.length === 1 ? only : new Set(sets.flatMap((set) => [...set]));
  }
}

const NONE: ReadonlySet<never> = new Set();

/** The exact values of an index entry, with its parameter. */
function keysOfEntry(entry: IndexEntry): readonly string[] {
  switch (entry.kind) {
    case 'token':
      return entry.code === undefined ? [] : [`${entry.param} code ${entry.code}`];
    case 'uri':
      return [`${entry.param} uri ${entry.value}`];
    case 'reference':
      return [
        ...(entry.id === undefined ? [] : [`${entry.param} id ${entry.id}`]),
        ...(entry.identifier === undefined ? [] : [`${entry.param} identifier ${entry.identifier.value}`]),
      ];
    default:
      return [];
  }
}

/** The value that entries fulfilling a test have; undefined if there are several. */
function keyOfTest(test: ValueTest): string | undefined {
  switch (test.is) {
    case 'token':
      return test.code === undefined ? undefined : `code ${test.code}`;
    case 'uri-equals':
      return `uri ${test.value}`;
    case 'reference':
      return test.id === undefined ? undefined : `id ${test.id}`;
    case 'identifier':
      return test.value === undefined ? undefined : `identifier ${test.value}`;
    default:
      return undefined;
  }
}

function tooManyComparisons(): FhirError {
  const text = 'The criteria of the entries have to be compared with too many of its resources; search by identifier, or send several transactions'; // prettier-ignore
  return new FhirError('transaction-too-large', text);
}
