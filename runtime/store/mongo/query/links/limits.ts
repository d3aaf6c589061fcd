/** How far the sides of links are looked at. */
export interface LinkLimits {
  /** Few enough to be collected, whatever else is asked for. */
  readonly few: number;
  /** Up to so many are collected where nothing that is asked for has far fewer. */
  readonly some: number;
  /** More are never held at a time. */
  readonly most: number;
  /** After so many candidates the other sides of their links are looked at again: they may be shorter than this one. */
  readonly tried: number;
  /** Candidates of the first piece, and of each after it; the last as often as needed. */
  readonly pieces: readonly number[];
  /** The same of orders that no index has: what is sorted is sorted anew for each piece. */
  readonly sortedPieces: readonly number[];
}

/** What is used but in tests. */
export const LINK_LIMITS: LinkLimits = {
  few: 100,
  some: 1000,
  most: 50_000,
  tried: 1250,
  pieces: [50, 200, 1000, 5000, 20_000],
  sortedPieces: [1000, 20_000],
};
