/**
 * The milliseconds since the epoch at which a second begins; a leap second is the one after it.
 *
 * @param second `YYYY-MM-DDThh:mm:ss`
 * @param zone `Z` or an offset
 * @returns NaN for what is no time
 */
export function secondOf(second: string, zone: string): number {
  const isLeap = second.endsWith(':60');
  return Date.parse(`${isLeap ? second.replace(/60$/, '59') : second}${zone}`) + (isLeap ? 1000 : 0);
}
