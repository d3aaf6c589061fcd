import type { Condition } from '../../../../search/query/query.js';
import type { Sql } from './sql.js';

/** One range of an index, or a range for each row of a list, and what is asked of its rows. */
export interface IndexRange {
  /** Column of the resource's key. */
  readonly key: Sql;
  /** `FROM … WHERE …`, all that the rows have to fulfil. */
  readonly rows: Sql;
  /** The same without what the index does not answer. */
  readonly range: Sql;
  /** Whether the rows come in the order of keys. */
  readonly isOrdered: boolean;
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

/** A condition as ranges of indexes: what fulfils it is in some of them. */
export interface Driver {
  readonly condition: Condition;
  readonly arms: readonly IndexRange[];
  /** Rows of the ranges; one above the limit of probes: more. */
  readonly count: number;
  /** Whether all that is in them fulfils it. */
  readonly isExact: boolean;
  /** All that is in the ranges, where that is known. */
  readonly keys?: readonly number[];
  /** The same as one range, where there is one. */
  readonly single?: Single;
}
