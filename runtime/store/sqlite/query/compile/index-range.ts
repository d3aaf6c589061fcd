import type { Condition } from '../../../../search/query/query.js';
import { conjunctsOf, without } from '../../../plan/conjuncts.js';
import type { Path } from '../../../plan/cursor.js';
import { and, join, sql, type Sql } from './sql.js';

/** One range of an index on the way to resources: rows of one table. */
export interface Level {
  /** `token d0 INDEXED BY …`. */
  readonly table: Sql;
  /** The range. */
  readonly where: Sql;
  /** The same without where it begins; absent: it has no bounds, all its rows are alike in what it asks for. */
  readonly open?: () => Sql;
  /** Columns in whose order its rows come; rows at the same place are of the same resource. None: there is one row at most. */
  readonly order: readonly Sql[];
  /** What its rows have to fulfil that the index does not answer. */
  readonly asked: Sql;
  /** True of one of the rows in which something on the way is; absent: there is but one. */
  readonly once?: () => Sql;
}

/** Resources in one range of an index; or in ranges that rows of others open, one for each, in their order. */
export interface Arm {
  /** Column of the resource's key. */
  readonly key: Sql;
  readonly levels: readonly Level[];
  /** Whether its rows come in the order of its levels, so that it can be gone on with from any place. */
  readonly isLazy: boolean;
  /** True of one of the rows in which a resource is, unless an arm before this one has it. It is decided on entries alone. */
  readonly once: () => Sql;
  /** Whether the resource with a key is in it. */
  readonly holds: (key: Sql) => Sql;
}

/** A range whose rows are all that fulfil a condition: one of each resource, as long as none is irregular for the parameter. */
export interface Single {
  /** Column of the resource's key. */
  readonly key: Sql;
  /** Number of the parameter. */
  readonly param: Sql;
  /** `FROM … WHERE …`, all that the rows have to fulfil; nothing stops a statement there. */
  readonly rows: Sql;
}

/** How the ranges of a condition are chosen: by their rows, counted so far; or as they were before. */
export interface Choice {
  readonly limit: number;
  readonly path?: Path | undefined;
}

/** The choice that was made within another; where there was none, it is made anew. */
export function stepOf({ limit, path }: Choice, place: number): Choice {
  return Array.isArray(path) ? { limit, path: (path as readonly Path[])[place] } : { limit };
}

/** A condition as ranges of indexes: what fulfils it is in some of them. */
export interface Driver {
  readonly path: Path;
  /** What of the search it answers. */
  readonly condition: Condition;
  readonly arms: readonly Arm[];
  /** Rows of the ranges; one above the limit of probes: more. */
  readonly count: number;
  /** Whether all that is in them fulfils it. */
  readonly isExact: boolean;
  readonly isLazy: boolean;
  /** Whether it leads through other resources. */
  readonly isFar: boolean;
  /** Whether to tell the one row of a resource that counts takes a look at others that refer to it, which may be many. */
  readonly repeats: boolean;
  /** All of it as one range, where there is one. */
  readonly single?: Single;
}

/** Returns what is left to be asked of that which a driver finds. */
export function restOf(where: Condition, { condition, isExact }: Pick<Driver, 'condition' | 'isExact'>): Condition {
  return isExact ? without(conjunctsOf(where), condition) : where;
}

/** `FROM … WHERE …`: all rows of an arm. */
export function rowsOf({ levels }: Arm): Sql {
  return sql`FROM ${tablesOf(levels)} WHERE ${and(levels.flatMap(({ where, asked }) => [where, asked]))}`;
}

/**
 * Returns `FROM … WHERE …` of an arm without the tests that the index does not answer, where the arm has one level
 * only; otherwise as `rowsOf`.
 */
export function rangeOf(arm: Arm): Sql {
  const [only, ...others] = arm.levels;
  return only === undefined || others.length > 0 ? rowsOf(arm) : sql`FROM ${only.table} WHERE ${only.where}`;
}

/** Each row of one is looked at together with those that it opens in the next. */
export function tablesOf(levels: readonly Level[]): Sql {
  return join(levels.map(({ table }) => table), ' CROSS JOIN '); // prettier-ignore
}
