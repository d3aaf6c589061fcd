import type { PathStep } from '../contract/search.js';

/** Context of a path besides the value in hand. */
export interface Focus {
  /** The resource that the path began at: `#id` and `#` point into it. */
  readonly root: object;
  /**
   * Counts a value that is about to be looked at whole; absent: they are not counted.
   *
   * @param times how many it stands for
   * @throws RangeError where it is too much by then
   */
  charge?: (value: unknown, times?: number) => void;
}

/**
 * A compiled way onward from a value. Callers extend `Focus` with what their last visit needs (a list to fill), so
 * that a compiled path is one chain of closures and nothing is allocated between the resource and its values.
 */
export type Visit<F extends Focus> = (value: unknown, focus: F) => void;

/** A path to compile, and what is to happen to the values at its end. */
export interface Way<F extends Focus> {
  readonly steps: readonly PathStep[];
  /**
   * Called while compiling, once for each type that values can have at the end: the name that a choice element, a
   * type test or an extension gave them; undefined where the steps do not tell (the row's `types` do, then).
   */
  readonly end: (type: string | undefined) => Visit<F>;
}

/** One visit that makes all of these, in order. */
export function inTurn<F extends Focus>(visits: readonly Visit<F>[]): Visit<F> {
  const [first, second] = visits;
  if (first === undefined) return () => {};
  if (second === undefined) return first;
  if (visits.length === 2) {
    return (value, focus) => {
      first(value, focus);
      second(value, focus);
    };
  }
  return (value, focus) => {
    for (let i = 0; i < visits.length; i++) visits[i]?.(value, focus);
  };
}

/** Element names and the like are looked up in JSON objects only: never in text, whose `length` is no element. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
