/** What a table has under a name that others choose; undefined: nothing, whatever all objects have under that name. */
export function ownMember<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
