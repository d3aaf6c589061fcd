import {
  isPlace,
  isSimple,
  type IndexEntry,
  type QuantityEntry,
  type ReferenceEntry,
  type SimpleEntry,
  type TokenEntry,
} from '../../indexing/entry.js';
import { fulfilsPlace } from '../places/match-place.js';
import { hasWords } from '../text/has-words.js';
import { textIn } from '../text/text-in.js';
import { asciiLower } from './ascii-lower.js';
import { compareText } from './compare-text.js';
import {
  type Condition,
  type Ends,
  type Has,
  type Interval,
  type QuantityTest,
  type ReferenceTest,
  type StringRangeTest,
  type SystemTest,
  type Target,
  type TokenCaseTest,
  type ValueTest,
  valuedBy,
} from './query.js';
import { isUriBelow } from './uri.js';

/** The parts of a resource that conditions are about. */
export interface Candidate {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly lastUpdated: number;
  readonly entries: readonly IndexEntry[];
}

/** Other resources, for conditions that ask for them. */
export interface Neighbours {
  /** All current resources of a type that a reference of the candidate may lead to; more do no harm. */
  targets(type: string, reference: ReferenceEntry): Iterable<Candidate>;
  /** All current resources of a type that may refer to the candidate; more do no harm. */
  sources(type: string, candidate: Candidate): Iterable<Candidate>;
  /** Type of the candidate. */
  readonly type: string;
  /** The neighbours of resources of another type. */
  of(type: string): Neighbours;
}

/**
 * Whether a resource fulfils a condition: the same that a store finds by its index, decided on the entries themselves. For
 * scopes, conditions within a Bundle, and filters of an export.
 *
 * @param neighbours absent: the condition has no links
 */
export function matches(condition: Condition, candidate: Candidate, neighbours?: Neighbours): boolean {
  if ('all' in condition) return condition.all.every((each) => matches(each, candidate, neighbours));
  if ('some' in condition) return condition.some.some((each) => matches(each, candidate, neighbours));
  if ('not' in condition) return !matches(condition.not, candidate, neighbours);
  if ('chain' in condition || 'has' in condition) {
    if (neighbours === undefined) throw new Error('the condition asks for other resources');
    return 'chain' in condition
      ? condition.chain.some((target) => hasTarget(condition.param, target, candidate, neighbours))
      : hasSource(condition.has, candidate, neighbours);
  }
  if ('ids' in condition) return condition.ids.includes(candidate.id);
  if ('updated' in condition) {
    const { lastUpdated } = candidate;
    return condition.updated.some((ends) => isWithin({ low: lastUpdated, high: lastUpdated }, ends));
  }
  const params = valuedBy(condition);
  const entries = candidate.entries.filter(({ param }) => params.includes(param));
  if ('present' in condition) return entries.some(({ kind }) => kind === condition.present);
  if ('any' in condition) return entries.some((entry) => isSimple(entry) && fulfilsAny(entry, condition.any));
  if ('places' in condition) {
    return entries.some((entry) => isPlace(entry) && condition.places.some((test) => fulfilsPlace(entry, test)));
  }
  if ('words' in condition) {
    const text = textIn(entries);
    return text !== undefined && hasWords({ text }, condition.words);
  }
  return entries.some((entry) => {
    if (entry.kind !== 'composite') return false;
    return condition.composite.some((tests) =>
      tests.every((any, i) => entry.parts[i]?.some((part) => fulfilsAny(part, any)) === true),
    );
  });
}

/** https://hl7.org/fhir/R5/search.html#chaining */
function hasTarget(param: string, { type, where }: Target, { entries }: Candidate, neighbours: Neighbours): boolean {
  const beyond = neighbours.of(type);
  return entries.some((entry) => {
    if (entry.kind !== 'reference' || entry.param !== param) return false;
    for (const target of neighbours.targets(type, entry)) {
      if (leadsTo(entry, type, target) && matches(where, target, beyond)) return true;
    }
    return false;
  });
}

/** https://hl7.org/fhir/R5/search.html#has */
function hasSource({ type, param, where }: Has['has'], candidate: Candidate, neighbours: Neighbours): boolean {
  const beyond = neighbours.of(type);
  for (const source of neighbours.sources(type, candidate)) {
    const leads = source.entries.some(
      (entry) => entry.kind === 'reference' && entry.param === param && leadsTo(entry, neighbours.type, candidate),
    );
    if (leads && matches(where, source, beyond)) return true;
  }
  return false;
}

/**
 * Whether a reference leads to a resource of this server: it names its type and id (whichever version), or, as canonical,
 * its `url` and, if any, its `version`.
 */
export function leadsTo(
  reference: ReferenceEntry,
  type: string,
  { id, entries }: Pick<Candidate, 'id' | 'entries'>,
): boolean {
  const { url, version } = reference;
  if (reference.type !== undefined && reference.type !== type) return false;
  if (url === undefined) {
    return reference.base === undefined && reference.type === type && reference.id === id;
  }
  const has = (test: (entry: SimpleEntry) => boolean): boolean =>
    entries.some((entry) => isSimple(entry) && test(entry));
  if (!has((entry) => entry.kind === 'uri' && entry.param === 'url' && entry.value === url)) return false;
  return version === undefined || has((entry) => entry.kind === 'token' && entry.param === 'version' && entry.code === version); // prettier-ignore
}

function fulfilsAny(entry: SimpleEntry, tests: readonly ValueTest[]): boolean {
  return tests.some((test) => fulfils(entry, test));
}

/** Whether an entry fulfils a test; one of another kind does not. */
export function fulfils(entry: SimpleEntry, test: ValueTest): boolean {
  switch (test.is) {
    case 'token':
      if (entry.kind !== 'token') return false;
      return isSystem(entry.system, test.system) && (test.code === undefined || entry.code === test.code);
    case 'token-code-begins':
      return entry.kind === 'token' && entry.code !== undefined && asciiLower(entry.code).startsWith(test.lower);
    case 'token-any-case':
      return entry.kind === 'token' && isTokenAnyCase(entry, test);
    case 'token-other':
      return entry.kind === 'token' && !isTokenAnyCase(entry, test);
    case 'of-type':
      if (entry.kind !== 'token' || entry.code !== test.value) return false;
      return entry.ofType?.some(({ system, code }) => code === test.code && isSystem(system, test.system)) === true;
    case 'string-begins':
      return entry.kind === 'string' && entry.folded.startsWith(test.folded);
    case 'string-contains':
      return entry.kind === 'string' && entry.folded.includes(test.folded);
    case 'string-ends':
      return entry.kind === 'string' && entry.folded.endsWith(test.folded);
    case 'string-range':
      return entry.kind === 'string' && isTextWithin(entry.folded, test);
    case 'string-equals':
      return entry.kind === 'string' && entry.text === test.text;
    case 'date':
      return entry.kind === 'date' && isWithin(entry, test);
    case 'number':
      return entry.kind === 'number' && isWithin({ low: entry.value, high: entry.value }, test);
    case 'quantity':
      return entry.kind === 'quantity' && isQuantity(entry, test);
    case 'reference':
      return entry.kind === 'reference' && isReference(entry, test);
    case 'identifier':
      return entry.kind === 'reference' && isIdentifier(entry.identifier, test);
    case 'uri-equals':
      return uriOf(entry) === test.value;
    case 'uri-below':
      return isUriBelow(uriOf(entry), test.value);
    case 'uri-above': {
      const uri = uriOf(entry);
      return uri !== undefined && isUriBelow(test.value, uri);
    }
  }
}

function isTokenAnyCase({ system, code }: TokenEntry, test: TokenCaseTest): boolean {
  if (!isSystem(system, test.system)) return false;
  return test.lower === undefined || (code !== undefined && asciiLower(code) === test.lower);
}

function isTextWithin(text: string, { gt, gte, lt, lte }: StringRangeTest): boolean {
  if (gt !== undefined && compareText(text, gt) <= 0) return false;
  if (gte !== undefined && compareText(text, gte) < 0) return false;
  if (lt !== undefined && compareText(text, lt) >= 0) return false;
  return lte === undefined || compareText(text, lte) <= 0;
}

function uriOf(entry: SimpleEntry): string | undefined {
  return entry.kind === 'uri' ? entry.value : undefined;
}

function isSystem(system: string | undefined, test: SystemTest | undefined): boolean {
  return test === undefined || (test === null ? system === undefined : system === test);
}

/** An interval; an end that is absent is open. */
interface Ending {
  readonly low?: number;
  readonly high?: number;
}

/** Whether the ends of an interval lie within bounds. */
export function isWithin({ low = -Infinity, high = Infinity }: Ending, ends: Ends): boolean {
  return isBetween(low, ends.low) && isBetween(high, ends.high);
}

function isBetween(value: number, { gt, gte, lt, lte }: Interval = {}): boolean {
  if (gt !== undefined && !(value > gt)) return false;
  if (gte !== undefined && !(value >= gte)) return false;
  if (lt !== undefined && !(value < lt)) return false;
  return lte === undefined || value <= lte;
}

function isQuantity(entry: QuantityEntry, test: QuantityTest): boolean {
  const { system, code, unit, canonical } = entry;
  if (test.canonical !== undefined) {
    return canonical !== undefined && canonical.unit === test.canonical && isWithin(spanOf(canonical), test);
  }
  if (!isWithin(spanOf(entry), test)) return false;
  if (test.unit === undefined) return test.system === undefined || system === test.system;
  if (test.system !== undefined) return system === test.system && code === test.unit;
  return code === test.unit || unit === test.unit;
}

/** The interval of a quantity; of a point both ends are the value. */
function spanOf({ value, low, high }: Pick<QuantityEntry, 'value' | 'low' | 'high'>): Ending {
  if (low === undefined && high === undefined) return { low: value, high: value };
  return { ...(low !== undefined && { low }), ...(high !== undefined && { high }) };
}

function isReference(entry: ReferenceEntry, test: ReferenceTest): boolean {
  const { type, id, base, version, url, fragment } = entry;
  if (test.types !== undefined && (type === undefined || !test.types.includes(type))) return false;
  if (test.id !== undefined && (id !== test.id || base !== test.base)) return false;
  if (test.url !== undefined && url !== test.url) return false;
  if (test.version !== undefined && version !== test.version) return false;
  if (test.versionPrefix !== undefined && version?.startsWith(test.versionPrefix) !== true) return false;
  return test.fragment === undefined || fragment === test.fragment;
}

function isIdentifier(
  identifier: ReferenceEntry['identifier'],
  { system, value }: { readonly system?: SystemTest; readonly value?: string },
): boolean {
  if (identifier === undefined || !isSystem(identifier.system, system)) return false;
  return value === undefined || identifier.value === value;
}
