/** Work on the same keys one after the other, within this process. */
export interface KeyQueue {
  /** Runs `work` when nobody who came earlier works on any of the keys any more. */
  run<T>(keys: readonly string[], work: () => Promise<T>): Promise<T>;
}

/** An empty queue. It keeps nothing of keys on which nobody works. */
export function openKeyQueue(): KeyQueue {
  const last = new Map<string, Promise<void>>();
  return {
    async run(keys, work) {
      const distinct = [...new Set(keys)];
      const before = distinct.flatMap((key) => last.get(key) ?? []);
      let finish = (): void => {};
      const finished = new Promise<void>((resolve) => (finish = resolve));
      // All at once, so that nobody can stand before us at one key and behind us at another.
      for (const key of distinct) last.set(key, finished);
      try {
        await Promise.all(before);
        return await work();
      } finally {
        for (const key of distinct) if (last.get(key) === finished) last.delete(key);
        finish();
      }
    },
  };
}
