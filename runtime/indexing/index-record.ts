import { createHash } from 'node:crypto';

import type { SearchRow, SearchTable } from '../contract/search.js';
import { CONTAINED, CONTAINED_RESOURCES } from './contained.js';
import { placesOf, isWords } from './parameter-kinds.js';
import { REFERENCE_ENTRIES, REFERENCES } from './other-references.js';
import { WORDS } from './text/segment.js';

/**
 * To be raised with every change of the code that makes other index entries of the same rows: a correction of a
 * converter, of folding, of units.
 */
export const EXTRACTION = 7;

/** Version of the evaluation of expressions that are no paths, raised likewise. */
const EVALUATION = 'own-1';

/** In the record, by which URLs of this server the entries of references were made; see `OwnBases`. */
export const BASES = '_bases';

/** By what the index entries of a store were made. */
export interface IndexRecord {
  /** One hash of everything, to see quickly that nothing has changed. */
  readonly whole: string;
  /** A hash for each search row: `Patient.name`, `Resource._id`. */
  readonly rows: Readonly<Record<string, string>>;
  /** `whole` of those who write since entries of other definitions are among these. */
  readonly writer?: string;
  /** The URLs of the server that last began to make entries. */
  readonly own?: readonly string[];
  /** How often the writer changed: what was made anew before that counts no more. */
  readonly epoch?: number;
}

/** In place of the hash of a row: entries of several definitions are there. */
const MIXED = 'mixed';

/**
 * Description of how index entries are made now: by which rows, read in which zone. `record` hashes the rows one by one
 * when it is called first.
 */
export interface IndexMaker {
  readonly whole: string;
  /** The URLs of the server; none: they are not known from its configuration. */
  readonly own: readonly string[];
  record(): IndexRecord;
  /** Names of rows by which contained resources have no entries; absent: there are none. */
  readonly notContained?: ReadonlySet<string>;
}

/**
 * @param zone zone of dates without an offset, which their entries depend on
 * @param own the URLs of this server, which those of references depend on; none: nothing is said of them
 */
export function describeIndex(tables: readonly SearchTable[], zone: string, own: readonly string[] = []): IndexMaker {
  const whole = hash([
    EXTRACTION,
    WORDS,
    CONTAINED_RESOURCES,
    REFERENCE_ENTRIES,
    zone,
    own,
    tables.map((table) => [table.type, withEntries(table).map(essence)]),
  ]);
  let record: IndexRecord | undefined;
  const makeRows = (): IndexRecord['rows'] =>
    Object.fromEntries([
      ...tables.flatMap((table) =>
        withEntries(table).map((row) => [`${table.type}.${row.code}`, hashRow(row, zone)] as const),
      ),
      [CONTAINED, hash(CONTAINED_RESOURCES)] as const,
      [REFERENCES, hash(REFERENCE_ENTRIES)] as const,
      ...(own.length > 0 ? [[BASES, hash(own)] as const] : []),
    ]);
  return { whole, own, record: () => (record ??= { whole, rows: makeRows(), own }) };
}

/** Unions have none of their own. */
function withEntries({ parameters }: SearchTable): readonly SearchRow[] {
  return parameters.filter(({ unionOf }) => unionOf === undefined);
}

/**
 * Adds rows to the description of an index, in time that grows with the number of these rows.
 *
 * @param more each with the type that it belongs to
 */
export function withMoreRows(
  base: IndexMaker,
  more: readonly (readonly [type: string, row: SearchRow])[],
  zone: string,
): IndexMaker {
  if (more.length === 0) return base;
  const rows = Object.fromEntries(more.map(([type, row]) => [`${type}.${row.code}`, hashRow(row, zone)]));
  const whole = hash([base.whole, rows]);
  let record: IndexRecord | undefined;
  return {
    ...{ whole, own: base.own },
    record: () => (record ??= { ...base.record(), whole, rows: { ...base.record().rows, ...rows } }),
    notContained: new Set(Object.keys(rows)),
  };
}

function hashRow(row: SearchRow, zone: string): string {
  const evaluation = isEvaluated(row) ? [EVALUATION] : [];
  return hash([EXTRACTION, isWords(row) ? WORDS : row.type === 'date' && zone, essence(row), ...evaluation]);
}

function isEvaluated({ paths, components = [] }: SearchRow): boolean {
  return [...paths, ...components.flatMap((each) => each.paths)].some((path) => path.isEvaluated === true);
}

/**
 * Names of the search rows whose entries may be missing or wrong: made by another row, or by none yet.
 *
 * @param made by what they were made; absent: unknown
 */
export function staleNames(made: IndexRecord | undefined, maker: IndexMaker): string[] {
  if (made?.whole === maker.whole) return [];
  return Object.entries(maker.record().rows)
    .filter(([name, is]) => made?.rows[name] !== is)
    .map(([name]) => name);
}

/**
 * The record when a process begins to write by other definitions: rows that differ have entries of both from then on, so
 * that those from before are not current either, should they come back.
 *
 * @param made absent: unknown
 * @returns undefined: it stays as it is
 */
export function withWriter(made: IndexRecord | undefined, maker: IndexMaker): IndexRecord | undefined {
  if (made?.whole === maker.whole || made?.writer === maker.whole) return undefined;
  const { rows } = maker.record();
  const before = made?.rows ?? {};
  const names = Object.keys({ ...before, ...rows });
  const mixed = names.map((name) => [name, before[name] === rows[name] ? rows[name] : MIXED]);
  return {
    whole: MIXED,
    rows: Object.fromEntries(mixed),
    writer: maker.whole,
    own: maker.own,
    epoch: (made?.epoch ?? 0) + 1,
  };
}

/** The record when all entries of these rows were made anew. */
export function withRows(
  made: IndexRecord | undefined,
  maker: IndexMaker,
  isAnew: (name: string) => boolean,
): IndexRecord {
  const now = maker.record();
  const rows = { ...made?.rows };
  const anew = Object.entries(now.rows).filter(([name]) => isAnew(name));
  // Resources of the same type are within those of others, too, which were not made anew.
  const isMended = anew.some(([name, is]) => rows[name] !== is && maker.notContained?.has(name) !== true);
  if (isMended && rows[CONTAINED] !== undefined) rows[CONTAINED] = MIXED;
  for (const [name, is] of anew) rows[name] = is;
  const isWhole = Object.entries(now.rows).every(([name, is]) => rows[name] === is);
  const { epoch } = made ?? {};
  // What only others know is of no use when all is anew.
  return { ...made, ...(isWhole ? now : { whole: MIXED, rows }), ...(epoch !== undefined && { epoch }) };
}

/** What of a row decides on the entries. */
function essence(row: SearchRow): unknown {
  const { type, code, paths, components, slot } = row;
  // Such rows had no entries once.
  const places = placesOf(row);
  // What covers a part decides on no entry of it.
  const parts = components?.map(({ coveredBy: _coveredBy, ...part }) => part);
  return [type, code, paths, parts, slot, ...(places === undefined ? [] : [places.kind])];
}

function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16);
}
