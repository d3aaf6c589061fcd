import { append } from '../../../fhir/lists.js';
import { isSimple, type IndexEntry, type SimpleEntry } from '../../../search/entry.js';
import { asciiLower } from '../../../search/query/ascii-lower.js';
import type { Interval, Ends, ValueTest } from '../../../search/query/query.js';
import { sortedRuns, type Range, type SortedRuns } from './sorted-runs.js';

/** Index in a list of drafts. */
type Place = number;

/** Drafts by exact value. */
type Buckets = Map<string, Place[]>;

/**
 * Drafts by their entries of one search parameter. For a test it finds the few drafts that can fulfil it if the kind of test
 * can be indexed, otherwise all that have the parameter. The caller has to check each draft.
 */
export class ParamIndex {
  /** All drafts with an entry. */
  private readonly all: Place[] = [];
  private readonly exact: Buckets = new Map();
  private readonly texts = new Map<string, SortedRuns<string, Place>>();
  private readonly lows = new Map<string, SortedRuns<number, Place>>();
  private readonly highs = new Map<string, SortedRuns<number, Place>>();
  /** Of composites, by the index of the component. */
  private readonly parts: ParamIndex[] = [];

  /** @param entries of this parameter, at least one */
  add(place: Place, entries: readonly IndexEntry[]): void {
    this.all.push(place);
    const components: SimpleEntry[][] = [];
    for (const entry of entries) {
      if (isSimple(entry)) this.addValue(place, entry);
      else if (entry.kind === 'composite')
        for (const [i, part] of entry.parts.entries()) append((components[i] ??= []), part);
    }
    for (const [i, part] of components.entries()) {
      if (part !== undefined && part.length > 0) (this.parts[i] ??= new ParamIndex()).add(place, part);
    }
  }

  get everyone(): Range<Place> {
    return bucket(this.all);
  }

  /** Drafts that can fulfil at least one of the tests. */
  any(tests: readonly ValueTest[]): Range<Place> {
    return together(tests.map((test) => this.one(test)));
  }

  /** Drafts that can fulfil every component of at least one alternative. */
  composite(alternatives: readonly (readonly (readonly ValueTest[])[])[]): Range<Place> {
    return together(
      alternatives.map((tests) => fewest(tests.map((any, i) => this.parts[i]?.any(any) ?? NONE)) ?? this.everyone),
    );
  }

  private addValue(place: Place, entry: SimpleEntry): void {
    const exactly = (name: string, value: string): void => put(this.exact, `${name}\n${value}`, place);
    switch (entry.kind) {
      case 'token':
        if (entry.system !== undefined) exactly('system', entry.system);
        if (entry.code === undefined) return;
        exactly('code', entry.code);
        return runsOf(this.texts, 'code').add(asciiLower(entry.code), place);
      case 'string':
        exactly('text', entry.text);
        return runsOf(this.texts, 'folded').add(entry.folded, place);
      case 'uri':
        exactly('uri', entry.value);
        return runsOf(this.texts, 'uri').add(entry.value, place);
      case 'reference':
        if (entry.id !== undefined) exactly('id', entry.id);
        if (entry.url !== undefined) exactly('url', entry.url);
        if (entry.identifier !== undefined) exactly('identifier', entry.identifier.value);
        if (entry.identifier?.system !== undefined) exactly('identifier-system', entry.identifier.system);
        return;
      case 'date':
        return this.addSpan(place, 'date', entry);
      case 'number':
        return this.addSpan(place, 'number', { low: entry.value, high: entry.value });
      case 'quantity':
        this.addSpan(place, 'quantity', spanOf(entry));
        if (entry.canonical !== undefined) this.addSpan(place, 'canonical', spanOf(entry.canonical));
    }
  }

  private addSpan(place: Place, name: string, { low = -Infinity, high = Infinity }: Span): void {
    // A stored Period may end before it begins.
    if (low > high) return put(this.exact, `crossed\n${name}`, place);
    runsOf(this.lows, name).add(low, place);
    runsOf(this.highs, name).add(high, place);
  }

  private one(test: ValueTest): Range<Place> {
    switch (test.is) {
      case 'token':
        if (test.code !== undefined) return this.exactly('code', test.code);
        return typeof test.system === 'string' ? this.exactly('system', test.system) : this.everyone;
      case 'token-code-begins':
      case 'token-any-case':
        if (test.lower === undefined) return this.everyone;
        return this.beginning('code', test.lower);
      case 'of-type':
        return this.exactly('code', test.value);
      case 'string-begins':
        return this.beginning('folded', test.folded);
      case 'string-equals':
        return this.exactly('text', test.text);
      case 'uri-equals':
        return this.exactly('uri', test.value);
      case 'uri-below':
        return this.beginning('uri', test.value);
      case 'reference':
        if (test.id !== undefined) return this.exactly('id', test.id);
        return test.url === undefined ? this.everyone : this.exactly('url', test.url);
      case 'identifier':
        if (test.value !== undefined) return this.exactly('identifier', test.value);
        return typeof test.system === 'string' ? this.exactly('identifier-system', test.system) : this.everyone;
      case 'date':
      case 'number':
        return this.within(test.is, test);
      case 'quantity':
        return this.within(test.canonical === undefined ? 'quantity' : 'canonical', test);
      case 'token-other':
      case 'string-ends':
      case 'string-range':
      case 'string-contains':
      case 'uri-above':
        return this.everyone;
    }
  }

  private exactly(name: string, value: string): Range<Place> {
    return bucket(this.exact.get(`${name}\n${value}`) ?? []);
  }

  private beginning(name: string, start: string): Range<Place> {
    const isAfter = (text: string): boolean => text > start && !text.startsWith(start);
    return this.texts.get(name)?.between((text) => text < start, isAfter) ?? NONE;
  }

  /** As `low` is not above `high` in any span, an upper limit for `high` also limits `low`, and a lower one for `low` limits `high`. */
  private within(name: string, { low = {}, high = {} }: Ends): Range<Place> {
    const byLow = this.lows.get(name)?.between(below(low), above(low, high)) ?? NONE;
    const byHigh = this.highs.get(name)?.between(below(low, high), above(high)) ?? NONE;
    return together([byLow.count < byHigh.count ? byLow : byHigh, this.exactly('crossed', name)]);
  }
}

function put(buckets: Buckets, key: string, place: Place): void {
  const places = buckets.get(key);
  if (places === undefined) buckets.set(key, [place]);
  else places.push(place);
}

interface Span {
  readonly low?: number;
  readonly high?: number;
}

/** The span of a value: a single point if it has no `low` and `high`. */
function spanOf({ value, low, high }: Span & { readonly value: number }): Span {
  return low === undefined && high === undefined ? { low: value, high: value } : { ...span(low, high) };
}

function span(low: number | undefined, high: number | undefined): Span {
  return { ...(low !== undefined && { low }), ...(high !== undefined && { high }) };
}

function below(...bounds: readonly Interval[]): (value: number) => boolean {
  return (value) =>
    bounds.some(({ gt, gte }) => (gt !== undefined && value <= gt) || (gte !== undefined && value < gte));
}

function above(...bounds: readonly Interval[]): (value: number) => boolean {
  return (value) =>
    bounds.some(({ lt, lte }) => (lt !== undefined && value >= lt) || (lte !== undefined && value > lte));
}

const NONE: Range<Place> = { count: 0, values: () => [] };

function bucket(places: readonly Place[]): Range<Place> {
  return { count: places.length, values: () => places };
}

/** The union of ranges. An item of several ranges may occur several times. */
export function together(ranges: readonly Range<Place>[]): Range<Place> {
  const [only, second] = ranges;
  if (only !== undefined && second === undefined) return only;
  return {
    count: ranges.reduce((sum, { count }) => sum + count, 0),
    *values() {
      for (const range of ranges) yield* range.values();
    },
  };
}

/** The smallest of the ranges; undefined if there is none. */
export function fewest(ranges: readonly (Range<Place> | undefined)[]): Range<Place> | undefined {
  let least: Range<Place> | undefined;
  for (const range of ranges)
    if (range !== undefined && (least === undefined || range.count < least.count)) least = range;
  return least;
}

function runsOf<K extends string | number>(of: Map<string, SortedRuns<K, Place>>, name: string): SortedRuns<K, Place> {
  let runs = of.get(name);
  if (runs === undefined) of.set(name, (runs = sortedRuns()));
  return runs;
}
