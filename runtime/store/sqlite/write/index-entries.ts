import type { Database } from 'better-sqlite3';

import {
  isPlace,
  type CanonicalQuantity,
  type CompositeEntry,
  type IndexEntry,
  type PlaceEntry,
  type QuantityEntry,
  type SimpleEntry,
} from '../../../indexing/entry.js';
import { cellOf, cellOfBox } from '../../../indexing/places/cells.js';
import { toVector } from '../../../indexing/places/sphere.js';
import { targetText } from '../../../search/query/sort.js';
import { canonicalCode, codedCode, type Dictionary } from './dictionary.js';
import { INDEX_TABLES, type IndexTableName } from '../file/schema.js';
import { openIndexTable, type IndexTable } from './index-table.js';
import { openWordsWriter, toBeginnings, toTokens } from './words.js';

/** Low end of an interval that is open there: before every instant that FHIR can write. */
export const EARLIEST = -Number.MAX_SAFE_INTEGER;

/** High end of an interval that is open there. */
export const LATEST = Number.MAX_SAFE_INTEGER;

/** Width up to which an interval is no irregular one: of dates a day in milliseconds, of numbers they have to be points. */
export const REGULAR_WIDTH = { date: 86_400_000, number: 0 } as const;

/** Parameters that columns of the table `resource` answer. */
const KEPT_ELSEWHERE = new Set(['_id', '_lastUpdated']);

/** Writes index entries. Inside a write transaction only. */
export interface IndexWriter {
  /** Deletes all entries of a resource, by its key. */
  clear(resource: number): void;
  /** Adds the entries of a resource of this type (its number in the dictionary). It must have none. */
  add(resource: number, type: number, entries: readonly IndexEntry[]): void;
  /** Puts entries in the place of those that a resource has. Rows that stay the same are not written: most do in an update. */
  replace(resource: number, type: number, entries: readonly IndexEntry[]): void;
}

/** Where a row belongs: resource, param, part_group, n. */
type Place = readonly [number, number, number, number];

/** What an entry is of. */
interface Owner {
  readonly resource: number;
  readonly type: number;
  readonly code: string;
  /** As the dictionary counts them. */
  readonly part: number;
  readonly group: number;
  readonly n: number;
}

/** Prepares the statements that write index entries. */
export function openIndexWriter(db: Database, dictionary: Dictionary): IndexWriter {
  const to = Object.fromEntries(INDEX_TABLES.map((name) => [name, openIndexTable(db, name)])) as Readonly<
    Record<IndexTableName, IndexTable>
  >;
  const tables = Object.values(to);
  const words = openWordsWriter(db);
  const term = dictionary.term;
  /** Parameters of the resource that have dates or numbers, and whether they are irregular. */
  const ranges = new Map<number, boolean>();

  function noteRange({ group }: Owner, param: number, width: number, regular: number): void {
    if (group === 0) ranges.set(param, ranges.has(param) || !(width <= regular));
  }

  function addOne(entry: SimpleEntry, owner: Owner): void {
    const { resource, type, code, part, group, n } = owner;
    const param = dictionary.param(type, code, part);
    addSimple([resource, param, group, n], entry);
    if (entry.kind === 'number') noteRange(owner, param, 0, REGULAR_WIDTH.number);
    if (entry.kind === 'date') {
      noteRange(owner, param, (entry.high ?? LATEST) - (entry.low ?? EARLIEST), REGULAR_WIDTH.date);
    }
    if (entry.kind !== 'quantity') return;
    noteRange(owner, param, widthOf(entry), REGULAR_WIDTH.number);
    if (entry.canonical !== undefined) addCanonical(entry.canonical, owner);
  }

  function addCanonical({ unit, ...canonical }: CanonicalQuantity, owner: Owner): void {
    const { resource, type, code, part, group, n } = owner;
    const own = dictionary.param(type, canonicalCode(code, unit), part);
    to.number.put([resource, own, group, n, canonical.value, ...ends(canonical), 0, '', '']);
    noteRange(owner, own, widthOf(canonical), REGULAR_WIDTH.number);
  }

  /** Of a code and a quantity together: the quantity once more, by itself, under a name with the code. */
  function addCoded({ param, parts }: CompositeEntry, resource: number, type: number, first: number): number {
    const [tokens = [], quantities = [], ...more] = parts;
    let n = first;
    for (const token of more.length > 0 ? [] : tokens) {
      if (token.kind !== 'token' || token.system === undefined || token.code === undefined) continue;
      const code = codedCode(param, token.system, token.code);
      for (const entry of quantities) {
        if (entry.kind !== 'quantity' || entry.canonical === undefined) continue;
        addCanonical(entry.canonical, { resource, type, code, part: 0, group: 0, n: n++ });
      }
    }
    return n;
  }

  function addSimple(place: Place, entry: SimpleEntry): void {
    switch (entry.kind) {
      case 'token':
        to.token.put([...place, term(entry.system), entry.code ?? '']);
        for (const type of entry.ofType ?? []) to.token_of_type.put([...place, term(type.system), type.code]);
        break;
      case 'string':
        to.string.put([...place, entry.folded, entry.text]);
        break;
      case 'date':
        to.date.put([...place, entry.low ?? EARLIEST, entry.high ?? LATEST]);
        break;
      case 'number':
        to.number.put([...place, entry.value, entry.value, entry.value, 0, '', '']);
        break;
      case 'quantity':
        to.number.put([...place, entry.value, ...ends(entry), term(entry.system), entry.code ?? '', entry.unit ?? '']);
        break;
      case 'reference':
        to.reference.put([
          ...place,
          term(entry.type),
          entry.id ?? '',
          entry.version ?? '',
          term(entry.base),
          entry.url ?? '',
          entry.fragment ?? '',
          term(entry.identifier?.system),
          entry.identifier?.value ?? '',
          targetText(entry),
        ]);
        break;
      case 'uri':
        to.uri.put([...place, entry.value]);
        break;
    }
  }

  function addPlace(place: Place, entry: PlaceEntry): void {
    if (entry.kind === 'position') {
      const { x, y, z } = toVector(entry);
      to.position.put([...place, cellOf(entry), x, y, z]);
      return;
    }
    const { south, west, north, east } = entry;
    const lines = Buffer.from(new Float64Array(entry.lines).buffer);
    to.region.put([...place, cellOfBox(entry), south, west, north, east, lines]);
  }

  function put(resource: number, type: number, entries: readonly IndexEntry[], hasRows: boolean): void {
    for (const each of tables) each.begin(resource, hasRows);
    let n = 0;
    let groups = 0;
    ranges.clear();
    const texts: string[] = [];
    for (const entry of entries) {
      if (KEPT_ELSEWHERE.has(entry.param)) continue;
      if (isPlace(entry)) {
        addPlace([resource, dictionary.param(type, entry.param, 0), 0, n++], entry);
        continue;
      }
      if (entry.kind === 'words') {
        const param = dictionary.param(type, entry.param, 0);
        texts.push(toTokens(param, entry.text));
        for (const text of toBeginnings(entry)) to.beginning.put([resource, param, n++, text]);
        continue;
      }
      if (entry.kind !== 'composite') {
        addOne(entry, { resource, type, code: entry.param, part: 0, group: 0, n: n++ });
        continue;
      }
      groups++;
      const group = entry.isCovered === true ? -groups : groups;
      for (const [i, part] of entry.parts.entries()) {
        // Known though there is no value yet: so the parts of a composite can be counted.
        dictionary.param(type, entry.param, i + 1);
        for (const value of part) addOne(value, { resource, type, code: entry.param, part: i + 1, group, n: n++ });
      }
      n = addCoded(entry, resource, type, n);
    }
    for (const [param, isIrregular] of ranges) if (isIrregular) to.irregular.put([resource, param]);
    for (const each of tables) each.end();
    if (texts.length > 0) words.add(resource, texts);
  }

  function clear(resource: number): void {
    for (const each of tables) each.clear(resource);
    words.clear(resource);
  }

  return {
    clear,
    add: (resource, type, entries) => put(resource, type, entries, false),
    replace(resource, type, entries) {
      if (entries.length === 0) return clear(resource);
      words.clear(resource);
      put(resource, type, entries, true);
    },
  };
}

/** Both ends of a quantity: of a point the value itself, of an interval that is open infinity. */
function ends({ value, low, high }: Pick<QuantityEntry, 'value' | 'low' | 'high'>): readonly [number, number] {
  return low === undefined && high === undefined ? [value, value] : [low ?? -Infinity, high ?? Infinity];
}

function widthOf(quantity: Pick<QuantityEntry, 'value' | 'low' | 'high'>): number {
  const [low, high] = ends(quantity);
  return high - low;
}
