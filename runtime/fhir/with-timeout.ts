/**
 * Returns the result of the work, or rejects on timeout. The work continues then, and its result is discarded.
 *
 * @param time in milliseconds; `Infinity`: without limit
 * @param late makes the error
 */
export async function withTimeout<T>(time: number, work: Promise<T>, late: () => Error): Promise<T> {
  if (time === Infinity) return work;
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), time);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** A time that may turn out to have to be longer. */
export interface ExtendableTimeout {
  /** As `within`. */
  race<T>(work: Promise<T>, late: () => Error): Promise<T>;
  /** From the beginning on it is this at least, in milliseconds. */
  atLeast(time: number): void;
}

/** Begins now. @param time in milliseconds; `Infinity`: without limit */
export function extendableTimeout(time: number): ExtendableTimeout {
  const begun = performance.now();
  let longest = time;
  return {
    atLeast: (other) => void (longest = Math.max(longest, other)),
    async race(work, late) {
      if (longest === Infinity) return work;
      let timer: NodeJS.Timeout | undefined;
      const limit = new Promise<never>((_, reject) => {
        const look = (): void => {
          const left = begun + longest - performance.now();
          if (left > 0) timer = setTimeout(look, left);
          else reject(late());
        };
        look();
      });
      try {
        return await Promise.race([work, limit]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
