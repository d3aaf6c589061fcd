import { EVERYTHING, type Condition, type Leaf, type SortKey } from '../../../search/query/query.js';
import { asksForContained, withoutAbsentContained } from '../../contained-resources.js';
import type { FindQuery } from '../../store.js';
import type { Dictionary } from '../write/dictionary.js';
import type { QueryInterrupt } from '../file/query-interrupt.js';
import { tooCostly } from '../file/too-costly.js';
import { check } from './compile/check.js';
import type { CompileContext } from './compile/compile-context.js';
import type { Driver } from './compile/index-range.js';
import { toGroups, type LeafGroup, type TypeNames } from './compile/leaf.js';
import type { Lists } from './links/lists.js';
import type { PlanUsed } from '../../plan/explain.js';
import type { PlanLimits } from '../../plan/limits.js';
import type { SeenSet } from './seen-set.js';
import { raw, type Sql } from './compile/sql.js';
import type { Statements } from './compile/statements.js';

/** Parts that searches of a connection share. */
export interface FindParts {
  readonly statements: Statements;
  readonly dictionary: Dictionary;
  readonly interrupt: QueryInterrupt;
  readonly lists: Lists;
  readonly met: SeenSet;
  /** Counts that were made a moment ago: so many rows were found where so many were asked for. */
  readonly probes: Map<string, { readonly count: number; readonly most: number; readonly until: number }>;
  readonly limits: PlanLimits;
}

/** Sees what is done, for an explanation. */
export interface Trace {
  /** @param where all that is asked for */
  planned(where: Condition, plan: PlanUsed<Driver>): void;
  probed(condition: Condition, count: number, limit: number): void;
  ran(statement: Sql): void;
  /** Rows that were read beside those that statements look at. */
  read(rows: number): void;
}

/** One search that is being done. */
export interface SearchRun extends FindParts, CompileContext {
  readonly query: FindQuery;
  /** The keys of its order. Without any resources come as they are found. */
  readonly sort: readonly SortKey[];
  /** Rows of a statement, as lists of columns, one after the other. */
  rows<Row extends readonly unknown[]>(statement: Sql): IterableIterator<Row>;
  /** All of them. */
  table<Row extends readonly unknown[]>(statement: Sql): Row[];
  /** The first column of all rows of a statement. */
  column<Value>(statement: Sql): Value[];
  /** A search of another type within this one, in no order; undefined: there never was a resource of it. */
  of(type: string): SearchRun | undefined;
  readonly trace: Trace | undefined;
}

/** Bounds of a statement, below those of SQLite. */
const MAX_VALUES = 30_000;
const MAX_LENGTH = 900_000;

/** Prepares a search; undefined: there never was a resource of the type. */
export function beginRun(parts: FindParts, query: FindQuery, trace?: Trace): SearchRun | undefined {
  const others = new Map<string, SearchRun | undefined>();
  function of(type: string): SearchRun | undefined {
    if (!others.has(type)) {
      const other = { type, where: EVERYTHING, sort: [], count: 0, total: 'none' } as const;
      others.set(type, makeRun(parts, other, [], of, trace));
    }
    return others.get(type);
  }
  return makeRun(parts, query, keysOf(query.sort), of, trace);
}

/** A condition without what asks for members of types that there are none of. */
export function withoutAbsent(run: SearchRun, where: Condition): Condition {
  return asksForContained(where) ? withoutAbsentContained(where, (type) => run.of(type) !== undefined) : where;
}

function makeRun(
  parts: FindParts,
  query: FindQuery,
  sort: readonly SortKey[],
  of: SearchRun['of'],
  trace: Trace | undefined,
): SearchRun | undefined {
  const { statements, dictionary, interrupt, lists } = parts;
  const type = dictionary.findTerm(query.type);
  if (type === undefined) return undefined;
  const names: TypeNames = {
    type,
    param: (code, part) => dictionary.findParam(type, code, part),
    term: dictionary.findTerm,
  };
  const groups = new Map<Leaf, readonly LeafGroup[]>();
  const prepared = <Row extends readonly unknown[]>(statement: Sql) => {
    const { text, values } = statement;
    if (values.length > MAX_VALUES || text.length > MAX_LENGTH) throw tooCostly();
    trace?.ran(statement);
    return statements<Row>(text);
  };
  // One literal: what spreads are in takes fifty times as long to make.
  const run: SearchRun = {
    statements,
    dictionary,
    interrupt,
    lists,
    met: parts.met,
    probes: parts.probes,
    limits: parts.limits,
    query,
    sort,
    type,
    trace,
    of,
    param: (code) => names.param(code, 0),
    groups(leaf) {
      const found = groups.get(leaf) ?? toGroups(leaf, names);
      groups.set(leaf, found);
      return found;
    },
    list: lists.add,
    look: (row, column) => raw(trace === undefined ? '1' : interrupt.look(`${row.text}.${column}`)),
    go: ({ text }) =>
      raw(trace === undefined ? interrupt.sql(text) : `${interrupt.look(text)} AND ${interrupt.sql(text)}`),
    rows: <Row extends readonly unknown[]>(statement: Sql) => prepared<Row>(statement).iterate(...statement.values),
    table: <Row extends readonly unknown[]>(statement: Sql) => prepared<Row>(statement).all(...statement.values),
    column: <Value>(statement: Sql) => run.table<readonly [Value]>(statement).map(([value]) => value),
    check: (condition, key, depth) => check(condition, key, run, depth),
  };
  return run;
}

/** The keys that sort something: none does after `_id`. */
export function keysOf(sort: readonly SortKey[]): readonly SortKey[] {
  const byId = sort.findIndex(({ by }) => by === 'id');
  return byId < 0 ? sort : sort.slice(0, byId + 1);
}

/** Returns the keys of an order that was asked for, as `keysOf` has them; undefined: no order was asked for. */
export function sortedBy(sort: readonly SortKey[]): readonly SortKey[] | undefined {
  return sort.length === 0 ? undefined : keysOf(sort);
}
