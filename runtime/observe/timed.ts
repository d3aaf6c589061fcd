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
  const wrapper = Object.create(target) as T;
  for (const name of methods) {
    const method = target[name] as (...args: unknown[]) => Promise<unknown>;
    const measured = async (...args: unknown[]): Promise<unknown> => {
      const start = performance.now();
      let failed = true;
      try {
        const result = await method.apply(target, args);
        failed = false;
        return result;
      } finally {
        observe(name, performance.now() - start, failed);
      }
    };
    // As an assignment would make it, were the property of the target one that may be assigned to.
    Object.defineProperty(wrapper, name, { value: measured, writable: true, enumerable: true, configurable: true });
  }
  return wrapper;
}
