/** How far the sides of links are looked at. */
export interface LinkLimits {
  /** Few enough to be collected, whatever else is asked for. */
  readonly few: number;
  /** The same where an order is asked for: what links lead to does not come in it, and each candidate is asked otherwise. */
  readonly sorted: number;
  /** More are never held at a time. */
  readonly most: number;
  /** How many of a side are read at a time, at first and at most, and how many of them are followed together. */
  readonly sides: { readonly first: number; readonly most: number; readonly together: number };
}

/** Limits in use, except in tests. */
export const LINK_LIMITS: LinkLimits = {
  few: 100,
  sorted: 500,
  most: 50_000,
  sides: { first: 50, most: 1000, together: 4 },
};
