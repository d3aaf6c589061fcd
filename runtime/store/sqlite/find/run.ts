import type { Condition, Leaf } from '../../../search/query/query.js';
import type { FindQuery } from '../../store.js';
import type { Dictionary } from '../dictionary.js';
import type { Guard } from '../guard.js';
import { check, type CompileContext } from './check.js';
import { toGroups, type LeafGroup, type TypeNames } from './leaf.js';
import type { Lists } from './lists.js';
import { raw, type Sql } from './sql.js';
import type { Statements } from './statements.js';

/** What searches of a connection share. */
export interface FindParts {
  readonly statements: Statements;
  readonly dictionary: Dictionary;
  readonly guard: Guard;
  readonly lists: Lists;
  /** Whether the keys of a type are not in the order of ids. */
  readonly isUnordered: (type: number) => boolean;
}

/** Sees what is run, for an explanation. */
export interface Trace {
  ran(statement: string): void;
}

/** One search that is being done. */
export interface Run extends FindParts, CompileContext {
  readonly query: FindQuery;
  /** The type's number. */
  readonly type: number;
  /** The order of keys is that of ids. */
  readonly isOrdered: boolean;
  /** Marks the rows that drive a statement: there it can be stopped. */
  go(column: Sql): Sql;
  /** Rows of a statement. */
  rows<Row>(statement: Sql): IterableIterator<Row>;
  /** A condition on the resource whose key is in this column. */
  check(condition: Condition, key: Sql): Sql;
  readonly trace: Trace | undefined;
}

/** Prepares a search; undefined: there never was a resource of the type. */
export function beginRun(parts: FindParts, query: FindQuery, trace?: Trace): Run | undefined {
  const { statements, dictionary, guard, lists } = parts;
  const type = dictionary.findTerm(query.type);
  if (type === undefined) return undefined;
  const names: TypeNames = {
    type,
    param: (code, part) => dictionary.findParam(type, code, part),
    term: dictionary.findTerm,
  };
  const groups = new Map<Leaf, readonly LeafGroup[]>();
  const run: Run = {
    ...parts,
    query,
    type,
    isOrdered: !parts.isUnordered(type),
    trace,
    groups(leaf) {
      const found = groups.get(leaf) ?? toGroups(leaf, names);
      groups.set(leaf, found);
      return found;
    },
    list: lists.add,
    look: (row, column) => raw(trace === undefined ? '1' : guard.look(`${row.text}.${column}`)),
    go: (column) =>
      raw(trace === undefined ? guard.sql(column.text) : `${guard.look(column.text)} AND ${guard.sql(column.text)}`),
    rows<Row>({ text, values }: Sql) {
      trace?.ran(text);
      return statements.prepare<Row>(text).iterate(...values);
    },
    check: (condition, key) => check(condition, key, run),
  };
  return run;
}
