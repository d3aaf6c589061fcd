/** Where one plan gives way to another. Tests have other numbers, so that small data see every plan. */
export interface PlanLimits {
  /** How far the rows of each source are counted at first. */
  readonly glance: number;
  /** So far those are counted that all have more, to begin with the one that has fewest; not beyond the glance: they are not. */
  readonly compared: number;
  /** So many matches are collected and put in order rather than met on a walk through an order. */
  readonly few: number;
  /** Rows that a plan may look at before others are tried; each round that finds too little allows `more` times as many. */
  readonly first: number;
  readonly more: number;
  /** After so many rows the plan that looks best is run to its end. */
  readonly last: number;
}

/** Limits of SQLite, where the cost grows with the rows that are read. */
export const SQLITE_LIMITS: PlanLimits = { glance: 100, compared: 0, few: 1000, first: 500, more: 8, last: 1_000_000 };

/** Limits of MongoDB, where counting by an index alone costs far less than reading documents in vain. */
export const MONGO_LIMITS: PlanLimits = {
  glance: 250,
  compared: 1000,
  few: 1000,
  first: 500,
  more: 8,
  last: 1_000_000,
};
