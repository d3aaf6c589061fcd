/** Appends items to a list, however many there are: `push(...items)` overflows the stack with some hundred thousand. */
export function append<T>(to: T[], items: Iterable<T>): void {
  for (const each of items) to.push(each);
}
