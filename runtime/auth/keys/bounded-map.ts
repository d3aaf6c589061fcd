/** A map that forgets what was not used for longest when it is full. */
export interface BoundedMap<V> {
  readonly size: number;
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
  values(): IterableIterator<V>;
}

/** @param most greatest number of entries */
export function createBoundedMap<V>(most: number): BoundedMap<V> {
  const entries = new Map<string, V>();
  let newest: string | undefined;
  return {
    get size() {
      return entries.size;
    },
    get(key) {
      const value = entries.get(key);
      if (value === undefined || key === newest) return value;
      // A Map goes through its entries in the order in which they were put: this one becomes the last.
      entries.delete(key);
      entries.set(key, value);
      newest = key;
      return value;
    },
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      newest = key;
      for (const oldest of entries.keys()) {
        if (entries.size <= most) break;
        entries.delete(oldest);
      }
    },
    delete: (key) => void entries.delete(key),
    values: () => entries.values(),
  };
}
