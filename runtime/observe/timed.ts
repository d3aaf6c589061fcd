/**
 * Wraps an object so that calls of some of its methods go through a function. Each of these returns a promise.
 *
 * @param through gets the name of the method, and what calls it
 */
export function around<T extends object>(
  target: T,
  methods: readonly (keyof T & string)[],
  through: (method: string, call: () => Promise<unknown>) => Promise<unknown>,
): T {
  const wrapper = Object.create(target) as T;
  for (const name of methods) {
    const method = target[name] as (...args: unknown[]) => Promise<unknown>;
    const wrapped = (...args: unknown[]): Promise<unknown> => through(name, () => method.apply(target, args));
    // As an assignment would make it, were the property of the target one that may be assigned to.
    Object.defineProperty(wrapper, name, { value: wrapped, writable: true, enumerable: true, configurable: true });
  }
  return wrapper;
}

/**
 * Wraps an object so that some of its methods report how long they took. Each of these returns a promise.
 *
 * @param observe gets the name of the method, milliseconds, and whether it rejected
 */
export function timed<T extends object>(
  target: T,
  methods: readonly (keyof T & string)[],
  observe: (method: string, milliseconds: number, failed: boolean) => void,
): T {
  return around(target, methods, async (name, call) => {
    const start = performance.now();
    let failed = true;
    try {
      const result = await call();
      failed = false;
      return result;
    } finally {
      observe(name, performance.now() - start, failed);
    }
  });
}
