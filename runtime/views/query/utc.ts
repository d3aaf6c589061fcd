/** An instant in UTC, with three digits after its seconds at least, so that texts are in the order of time. */
export function utcOf(text: string): string {
  const [, second = '', fraction = '', zone = ''] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(text) ?? [];
  // A leap second is the one after it.
  const isLeap = second.endsWith(':60');
  const time = Date.parse(`${isLeap ? second.replace(/60$/, '59') : second}${zone}`) + (isLeap ? 1000 : 0);
  if (Number.isNaN(time)) return text;
  return `${new Date(time).toISOString().slice(0, 19)}.${fraction.padEnd(3, '0')}Z`;
}
