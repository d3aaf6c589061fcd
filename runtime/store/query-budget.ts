const budgets = new WeakMap<AbortSignal, number>();

/**
 * Gives the queries that have this signal another time limit than the store's: no client waits for the answer of a job.
 *
 * @param time in milliseconds
 */
export function setQueryBudget(signal: AbortSignal, time: number): void {
  budgets.set(signal, time);
}

/** Gives the queries of a part of some work the time limit that those of the whole have. */
export function passQueryBudget(whole: AbortSignal | undefined, part: AbortSignal): void {
  const time = whole && budgets.get(whole);
  if (time !== undefined) budgets.set(part, time);
}

/** Returns the time limit of a query, in milliseconds. @param usual that of the store */
export function queryBudgetOf(signal: AbortSignal | undefined, usual: number): number {
  return (signal && budgets.get(signal)) ?? usual;
}
