/** Takes a line of a parameter, and gives back what of it is kept: all, or its beginning. See `toLine`. */
export type TakeLine = (param: string, line: string) => string;

/**
 * Makes what takes lines as long as they have no more different words than this, each counted once for each parameter: a store
 * has a key for each. The word that would be one too many is left out with all behind it.
 */
export function boundWords(most: number): TakeLine {
  const counted = new Map<string, Set<string>>();
  let waiting: [param: string, line: string][] = [];
  let units = 0;
  let count = 0;

  function take(param: string, line: string): string {
    let words = counted.get(param);
    if (words === undefined) counted.set(param, (words = new Set()));
    let start = 0;
    for (let end = line.indexOf(' '); end >= 0; start = end + 1, end = line.indexOf(' ', start)) {
      const word = line.slice(start, end);
      if (word === '\n' || words.has(word)) continue;
      if (count === most) return line.slice(0, start).replace(/\n $/, '');
      words.add(word);
      count++;
    }
    return line;
  }

  return (param, line) => {
    // A word takes two units at least: of most resources no word is ever counted.
    units += line.length;
    if (units <= 2 * most) {
      waiting.push([param, line]);
      return line;
    }
    for (const each of waiting) take(...each);
    waiting = [];
    return take(param, line);
  };
}
