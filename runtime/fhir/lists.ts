/** Appends items to a list, however many there are: `push(...items)` overflows the stack with some hundred thousand. */
export function append<T>(to: T[], items: readonly T[]): void {
  for (const each of items) to.push(each);
}

/** The greatest of some numbers, however many there are; `least` where there are none, or all are less. */
export function greatest(numbers: Iterable<number>, least = -Infinity): number {
  let found = least;
  for (const each of numbers) found = Math.max(found, each);
  return found;
}

/** The least of some numbers, however many there are; `greatest` where there are none, or all are greater. */
export function least(numbers: Iterable<number>, greatest = Infinity): number {
  let found = greatest;
  for (const each of numbers) found = Math.min(found, each);
  return found;
}

/** The sum of some numbers. */
export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
