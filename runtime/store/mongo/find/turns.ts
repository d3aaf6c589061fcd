/** A bound on how much is done at a time: who comes later waits, first come, first served. */
export interface Turns {
  /**
   * Waits for a turn.
   *
   * @param patience how long at most, in milliseconds; absent: for ever
   * @param late makes the error where that was not enough
   * @returns ends the turn
   * @throws what the signal was aborted with
   */
  begin(patience?: number, late?: () => Error, signal?: AbortSignal): Promise<() => void>;
}

/** @param most turns at a time */
export function openTurns(most: number): Turns {
  let free = most;
  const waiting = new Set<() => void>();

  function end(): void {
    const [next] = waiting;
    if (next === undefined) free++;
    else next();
  }

  /** Each ends once, however often it is told to. */
  function turn(): () => void {
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      end();
    };
  }

  return {
    async begin(patience, late, signal) {
      signal?.throwIfAborted();
      if (free > 0) {
        free--;
        return turn();
      }
      await new Promise<void>((resolve, reject) => {
        const settle = (then: () => void): void => {
          waiting.delete(onTurn);
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
          then();
        };
        const onTurn = (): void => settle(resolve);
        const onAbort = (): void => settle(() => reject(signal?.reason as Error));
        const timer =
          patience === undefined || late === undefined
            ? undefined
            : setTimeout(() => settle(() => reject(late())), patience);
        signal?.addEventListener('abort', onAbort, { once: true });
        waiting.add(onTurn);
      });
      return turn();
    },
  };
}
