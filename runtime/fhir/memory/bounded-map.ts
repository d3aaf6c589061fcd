/** A map that forgets what was not used for longest when it is full. */
export interface BoundedMap<V, K = string> {
  readonly size: number;
  get(key: K): V | undefined;
  set(key: K, value: V): void;
  delete(key: K): void;
  values(): IterableIterator<V>;
}

/** @param most greatest number of entries */
export function createBoundedMap<V, K = string>(most: number): BoundedMap<V, K> {
  const entries = new Map<K, V>();
  let newest: K | undefined;
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
