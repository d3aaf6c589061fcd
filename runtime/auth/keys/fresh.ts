import { createBoundedMap } from '../../fhir/memory/bounded-map.js';

/**
 * Cache of values from the store. A value that is older than `AGE` is read again, so that changes of other processes show
 * within 2 s.
 */
export interface Fresh<T> {
  /** @throws as the store does: nothing old replaces what cannot be read */
  get(key: string): Promise<T>;
  /** What it is kept as is forgotten, because it was changed here or seems to be too old. */
  forget(key: string): void;
}

/**
 * How old a thing may be, in milliseconds: less than half of the 2 s that are promised, because what is remembered (a
 * verified token) may rest on something that is remembered (its client).
 */
export const AGE = 750;

interface Kept<T> {
  /** When reading began, so that nothing written later is taken for seen. */
  readonly asked: number;
  readonly value: Promise<T>;
}

/**
 * @param now a clock in milliseconds; where it was set back everything is read anew
 * @param most how many entries are kept
 */
export function createFresh<T>(read: (key: string) => Promise<T>, most: number, now: () => number): Fresh<T> {
  const kept = createBoundedMap<Kept<T>>(most);
  return {
    async get(key) {
      const time = now();
      const known = kept.get(key);
      if (known !== undefined && time - known.asked < AGE && time >= known.asked) return await known.value;
      const value = read(key);
      const entry = { asked: time, value };
      kept.set(key, entry);
      try {
        return await value;
      } catch (error) {
        if (kept.get(key) === entry) kept.delete(key);
        throw error;
      }
    },
    forget: (key) => kept.delete(key),
  };
}
