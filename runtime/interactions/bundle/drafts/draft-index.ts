import type { IndexEntry } from '../../../search/entry.js';
import type { Candidate } from '../../../search/query/match.js';
import { type Condition, valuedBy } from '../../../search/query/query.js';
import { fewest, ParamIndex, together } from './param-index.js';
import type { Range } from './sorted-runs.js';

type ByParam = ReadonlyMap<string, readonly IndexEntry[]>;

interface Kept<T> {
  readonly draft: T;
  readonly byParam: ByParam;
}

/**
 * Candidates of one type, indexed so that thousands of conditions can be tested against thousands of candidates. A parameter
 * is indexed when a condition first uses it.
 */
export class DraftIndex<T extends Candidate> {
  private readonly drafts: Kept<T>[] = [];
  private readonly params = new Map<string, ParamIndex>();
  private readonly byId = new Map<string, number[]>();

  add(draft: T): void {
    const byParam = groupByParam(draft.entries);
    const place = this.drafts.push({ draft, byParam }) - 1;
    this.byId.set(draft.id, [...(this.byId.get(draft.id) ?? []), place]);
    for (const [param, index] of this.params) addTo(index, place, byParam.get(param));
  }

  /** Candidates that may fulfil a condition, each once, with their index entries of the condition's parameters. */
  *candidates(where: Condition): Iterable<{ readonly draft: T; readonly shown: Candidate }> {
    const params = paramsOf(where);
    const range = this.range(where);
    // Local to this call, because iterations may be interleaved.
    const seen = new Set<number>();
    for (const place of range === undefined ? this.drafts.keys() : range.values()) {
      const found = this.drafts[place];
      if (found === undefined || seen.has(place)) continue;
      seen.add(place);
      const { draft, byParam } = found;
      yield { draft, shown: { id: draft.id, lastUpdated: draft.lastUpdated, entries: entriesOf(byParam, params) } };
    }
  }

  /** The drafts that may fulfil a condition; undefined if the indexes exclude none. */
  private range(where: Condition): Range<number> | undefined {
    if ('all' in where) return fewest(where.all.map((each) => this.range(each)));
    if ('some' in where) {
      const ranges = where.some.map((each) => this.range(each));
      return ranges.every((range) => range !== undefined) ? together(ranges) : undefined;
    }
    if ('not' in where || 'updated' in where) return undefined;
    if ('ids' in where) {
      const places = where.ids.flatMap((id) => this.byId.get(id) ?? []);
      return { count: places.length, values: () => places };
    }
    if ('chain' in where || 'has' in where) throw new Error('criteria of writes have no links');
    if ('words' in where) return together(valuedBy(where).map((param) => this.indexOf(param).everyone));
    const index = this.indexOf(where.param);
    if ('present' in where || 'places' in where) return index.everyone;
    return 'any' in where ? index.any(where.any) : index.composite(where.composite);
  }

  private indexOf(param: string): ParamIndex {
    let index = this.params.get(param);
    if (index === undefined) {
      this.params.set(param, (index = new ParamIndex()));
      for (const [place, { byParam }] of this.drafts.entries()) addTo(index, place, byParam.get(param));
    }
    return index;
  }
}

function addTo(index: ParamIndex, place: number, entries: readonly IndexEntry[] = []): void {
  if (entries.length > 0) index.add(place, entries);
}

const NO_ENTRIES: readonly IndexEntry[] = [];

function entriesOf(byParam: ByParam, params: readonly string[]): readonly IndexEntry[] {
  const [only, second] = params;
  if (only !== undefined && second === undefined) return byParam.get(only) ?? NO_ENTRIES;
  return params.flatMap((param) => byParam.get(param) ?? NO_ENTRIES);
}

function groupByParam(entries: readonly IndexEntry[]): ByParam {
  const groups = new Map<string, IndexEntry[]>();
  for (const entry of entries) {
    const group = groups.get(entry.param);
    if (group === undefined) groups.set(entry.param, [entry]);
    else group.push(entry);
  }
  return groups;
}

/** All parameters of a condition, each once. */
function paramsOf(where: Condition): readonly string[] {
  const found = new Set<string>();
  const visit = (each: Condition): void => {
    if ('all' in each) each.all.forEach(visit);
    else if ('some' in each) each.some.forEach(visit);
    else if ('not' in each) visit(each.not);
    else if ('param' in each) for (const param of valuedBy(each)) found.add(param);
  };
  visit(where);
  return [...found];
}
