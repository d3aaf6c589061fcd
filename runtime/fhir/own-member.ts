/**
 * Returns what a table has under a name that clients or files choose; undefined: nothing. Properties that all objects inherit
 * do not count.
 */
export function ownMember<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
