/** Admits so much at a time; what comes later waits. */
export interface Admission {
  /**
   * Resolves when there is room.
   *
   * @param size more than may be inside at a time is admitted alone
   * @returns gives the room back; further calls do nothing
   * @throws the errors of `AdmissionErrors`; without them the reason of the signal
   */
  enter(size?: number, wait?: AdmissionWait): Promise<() => void>;
  /** Takes room if there is some. @returns as `enter`; undefined: there is none */
  tryEnter(size?: number): (() => void) | undefined;
}

/** How long a place in the queue is kept. */
export interface AdmissionWait {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds, with the error after them; absent: for ever. */
  readonly patience?: { readonly time: number; readonly late: () => Error };
}

/** Limits of an admission. */
export interface AdmissionLimits {
  readonly inside: number;
  /** What may wait; absent: everything. */
  readonly waiting?: number;
  /**
   * What waits and is next; absent: the oldest. With `newest`, some are answered in time under overload, while the oldest of many
   * have waited too long in any case.
   */
  readonly next?: 'newest';
}

/** Errors of those that are not admitted. */
export interface AdmissionErrors {
  /** Too much waits. */
  readonly refused: () => Error;
  /** The signal aborted. */
  readonly left: () => Error;
}

interface Waiting {
  readonly size: number;
  readonly admit: () => void;
}

/** Opens an admission with nothing inside. */
export function openAdmission(limits: AdmissionLimits, errors?: AdmissionErrors): Admission {
  const queue = new Set<Waiting>();
  let inside = 0;
  let waiting = 0;

  const fits = (size: number): boolean => inside === 0 || inside + size <= limits.inside;

  function take(size: number): () => void {
    let isOut = false;
    inside += size;
    return () => {
      if (isOut) return;
      isOut = true;
      inside -= size;
      admitNext();
    };
  }

  function admitNext(): void {
    for (;;) {
      // Thousands may wait, and end one by one.
      const next = limits.next === 'newest' ? [...queue].at(-1) : queue.values().next().value;
      if (next === undefined || !fits(next.size)) return;
      next.admit();
    }
  }

  function tryEnter(size = 1): (() => void) | undefined {
    return queue.size === 0 && fits(size) ? take(size) : undefined;
  }

  return {
    tryEnter,
    async enter(size = 1, { signal, patience } = {}) {
      const leftError = (): unknown => errors?.left() ?? signal?.reason;
      if (signal?.aborted === true) throw leftError();
      const now = tryEnter(size);
      if (now !== undefined) return now;
      if (errors !== undefined && waiting + size > (limits.waiting ?? Infinity)) throw errors.refused();
      return new Promise((resolve, reject) => {
        const settle = (then: () => void): void => {
          queue.delete(one);
          waiting -= size;
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
          then();
        };
        const leave = (error: unknown): void => {
          settle(() => reject(error as Error));
          admitNext();
        };
        const onAbort = (): void => leave(leftError());
        const one: Waiting = { size, admit: () => settle(() => resolve(take(size))) };
        const timer = patience && setTimeout(() => leave(patience.late()), patience.time);
        signal?.addEventListener('abort', onAbort, { once: true });
        queue.add(one);
        waiting += size;
      });
    },
  };
}
