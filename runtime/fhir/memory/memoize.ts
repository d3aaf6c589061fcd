/** Returns a function that makes the value of an object once, and keeps it as long as the object. */
export function memoizeWeak<K extends object, V>(make: (key: K) => V): (key: K) => V {
  return through(new WeakMap<K, V>(), make);
}

/** Returns a function that makes the value of a key once. @param most values that are kept; then all are forgotten */
export function memoize<K, V>(make: (key: K) => V, most = Infinity): (key: K) => V {
  const known = new Map<K, V>();
  return through(known, (key) => {
    if (known.size >= most) known.clear();
    return make(key);
  });
}

interface Cache<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): unknown;
}

function through<K, V>(known: Cache<K, V>, make: (key: K) => V): (key: K) => V {
  return (key) => {
    let value = known.get(key);
    if (value === undefined) known.set(key, (value = make(key)));
    return value;
  };
}
