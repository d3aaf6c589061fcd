import type { Raw } from '../../bson/bson.js';
import type { Ask } from '../ask.js';
import type { OrderValue } from '../compile/order.js';
import type { Match } from '../orders/match.js';
import type { ProbedWay } from '../plan/choose.js';

/** What was found for a page. */
export interface FoundPage {
  readonly documents: readonly Raw[];
  /** There are more within the limit, but they did not fit into the answer. */
  readonly isCut: boolean;
  /** What each is sorted by. */
  valuesAt(place: number): readonly (OrderValue | null)[];
  /** What it began with. */
  readonly driving: () => string;
}

/** What was found, by its keys. */
export interface FoundMatches {
  readonly matches: readonly Match[];
  /** As in `FoundPage`. */
  readonly isCut: boolean;
  readonly driving: () => string;
}

/** A search of one type in a snapshot, whatever it asks for. */
export interface Finder {
  readonly ask: Ask;
  /** The next documents, at most so many. */
  page(limit: number): Promise<FoundPage>;
  /** The same without what they hold. */
  matches(limit: number): Promise<FoundMatches>;
  /** Whether it is known that more than this matches, or likely. */
  isLongerThan(count: number): boolean;
  countAll(): Promise<number>;
  /** Undefined: that is not cheap. */
  countCheaply(): Promise<number | undefined>;
  /** What was counted to choose a way. */
  readonly probed: readonly ProbedWay[];
}
