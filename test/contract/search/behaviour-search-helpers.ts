import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';

import type {
  CompositeEntry,
  IndexEntry,
  ReferenceEntry,
  SimpleEntry,
  TokenEntry,
  WordsEntry,
} from '../../../runtime/indexing/entry.js';
import { compareText } from '../../../runtime/search/query/compare-text.js';
import { toLine } from '../../../runtime/indexing/text/line.js';
import type { SortKey } from '../../../runtime/search/query/query.js';
import type { Sortable } from '../../../runtime/search/query/sort.js';
import { compareBy } from '../../toy/compare-by.js';
import type { FindPage, FindQuery, Store } from '../../../runtime/store/store.js';
import { openStore, type StoreTestOptions } from '../open-store.js';
import type { Subject } from '../subject.js';

/** The parameter of an entry of these tests where nothing else is said. */
export const P = 'p';

const SLOTS = new Map([P, 'when', 'name', 'amount', 'count'].map((param, slot) => [param, slot]));

/** The slots that the stores of these tests know. */
export function slotOf(_type: string, param: string): number | undefined {
  return SLOTS.get(param);
}

/** A store for all tests of a suite, empty before the first and gone after the last. */
export function sharedStore(on: Subject, options: StoreTestOptions = {}): { readonly store: Store } {
  let place: string;
  let url: string;
  let store: Store;
  beforeAll(async () => {
    place = mkdtempSync(join(tmpdir(), 'kiln-search-'));
    url = on.url(place);
    store = await openStore(url, { slotOf, ...options });
  });
  afterAll(async () => {
    await store.close();
    await on.drop?.(url);
    rmSync(place, { recursive: true });
  });
  return {
    get store() {
      return store;
    },
  };
}

/** A page's ids. */
export function idsOf({ versions }: Pick<FindPage, 'versions'>): string[] {
  return versions.map(({ id }) => id);
}

/** The same, in order: of a search without a sort pages come in any. */
export function sortedIdsOf(page: Pick<FindPage, 'versions'>): string[] {
  return idsOf(page).sort(compareText);
}

/** A query with defaults: everything of the type, on one page, without a total. */
export function query(type: string, more: Partial<FindQuery> = {}): FindQuery {
  return { type, where: { all: [] }, sort: [], count: 1000, total: 'none', ...more };
}

/** Ids of all pages, in the order that is asked for, or else in that of ids; fails where the walk has no end. */
export async function walk(store: Store, asked: FindQuery, onPage?: (page: FindPage) => unknown): Promise<string[]> {
  const ids: string[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < 5000; pages++) {
    const page = await store.find(after === undefined ? asked : { ...asked, after });
    ids.push(...idsOf(page));
    if (page.versions.length > asked.count) throw new Error(`a page of ${page.versions.length}, not ${asked.count}`);
    await onPage?.(page);
    if (page.next === undefined) return asked.sort.length === 0 ? ids.sort(compareText) : ids;
    if (page.versions.length === 0) throw new Error('a page with nothing on it that is not the last');
    after = page.next;
  }
  throw new Error('a walk without an end');
}

/**
 * What was found, with what is alike in its sort keys in an order of its own: a store may have it in any.
 *
 * @param compare the order, and that of what is alike
 * @throws Error where it is not in the order of the keys
 */
export function settled<T extends Sortable>(
  found: readonly T[],
  sort: readonly SortKey[],
  compare: (a: T, b: T) => number,
): T[] {
  const isById = sort.some(({ by }) => by === 'id');
  const bySort = compareBy(sort);
  const alike = (each: T): T => (isById ? each : { ...each, id: '' });
  found.forEach((each, i) => {
    const before = found[i - 1];
    if (before === undefined || sort.length === 0 || bySort(alike(before), alike(each)) <= 0) return;
    throw new Error(`${each.id} comes after ${before.id}`);
  });
  return found.toSorted(compare);
}

/** A key of an order: `by` says what kind the parameter is of. */
export function key(by: SortKey['by'], isDescending = false, param = P): SortKey {
  return { param, by, isDescending };
}

// Makers of entries, short because there are so many of them. `undefined` leaves a field out.

type Fields<E> = { readonly [name in keyof E]?: E[name] | undefined };

function made<E extends IndexEntry>(kind: E['kind'], fields: Fields<E>): E {
  const given = Object.entries({ kind, param: P, ...fields }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as unknown as E;
}

export const token = (code?: string, system?: string, ofType?: TokenEntry['ofType']): IndexEntry & SimpleEntry =>
  made<TokenEntry>('token', { system, code, ofType });
export const text = (folded: string, whole = folded): SimpleEntry =>
  made<Extract<SimpleEntry, { kind: 'string' }>>('string', { text: whole, folded });
export const date = (low?: number, high?: number): SimpleEntry =>
  made<Extract<SimpleEntry, { kind: 'date' }>>('date', { low, high });
export const number = (value: number): SimpleEntry =>
  made<Extract<SimpleEntry, { kind: 'number' }>>('number', { value });
export const quantity = (fields: Fields<Extract<SimpleEntry, { kind: 'quantity' }>>): SimpleEntry =>
  made<Extract<SimpleEntry, { kind: 'quantity' }>>('quantity', fields);
export const reference = (fields: Fields<ReferenceEntry>): SimpleEntry => made<ReferenceEntry>('reference', fields);
export const uri = (value: string): SimpleEntry => made<Extract<SimpleEntry, { kind: 'uri' }>>('uri', { value });
export const composite = (...parts: readonly (readonly SimpleEntry[])[]): CompositeEntry =>
  made<CompositeEntry>('composite', { parts });
export const words = (...values: readonly string[]): WordsEntry =>
  made<WordsEntry>('words', { text: values.map((value) => toLine(value)).join('') });
/** The same entry of another parameter. */
export const of = <E extends IndexEntry>(param: string, entry: E): E => ({ ...entry, param });
