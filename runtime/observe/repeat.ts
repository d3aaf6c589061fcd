/** Times of `repeat`, in milliseconds. */
export interface RepeatTimes {
  /** Until it is done first. */
  readonly first: number;
  /** From the end of one time to the beginning of the next. */
  readonly pause: number;
}

/**
 * Does something again and again, one at a time. It keeps no process alive.
 *
 * @param onError called with what it failed with; it goes on
 * @returns ends it; what is in progress then may fail, which is not reported
 */
export function repeat(work: () => Promise<unknown>, { first, pause }: RepeatTimes, onError: (error: unknown) => void) {
  let stopped = false;
  let timer: NodeJS.Timeout;
  const later = (time: number): void => {
    timer = setTimeout(() => void once(), time).unref();
  };
  const once = async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!stopped) onError(error);
    }
    if (!stopped) later(pause);
  };
  later(first);
  return (): void => {
    stopped = true;
    clearTimeout(timer);
  };
}
