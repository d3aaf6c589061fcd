/** A bound on how much is done at a time: who comes later waits. */
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
  /** A turn, if one is free. @returns as above */
  tryBegin(): (() => void) | undefined;
}

/**
 * @param most turns at a time
 * @param next which waiting search is next. With `newest`, some searches are answered in time under overload, while the
 * oldest of many have waited too long in any case
 */
export function openTurns(most: number, next: 'oldest' | 'newest' = 'oldest'): Turns {
  let free = most;
  const waiting = new Set<() => void>();

  function end(): void {
    // Thousands may wait, and end one by one.
    const begin = next === 'oldest' ? waiting.values().next().value : [...waiting].at(-1);
    if (begin === undefined) free++;
    else begin();
  }

  /** A turn ends once; further calls do nothing. */
  function turn(): () => void {
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      end();
    };
  }

  function tryBegin(): (() => void) | undefined {
    if (free === 0) return undefined;
    free--;
    return turn();
  }

  return {
    tryBegin,
    async begin(patience, late, signal) {
      signal?.throwIfAborted();
      const now = tryBegin();
      if (now !== undefined) return now;
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
