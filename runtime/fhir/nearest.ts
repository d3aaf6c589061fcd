/** The candidate that a misspelt word most likely means, or undefined where none is near. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

/**
 * Returns the most likely meaning of a misspelt word, as the end of a message: `; did you mean Patient?`. Empty where no word
 * is near.
 */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const near = nearest(word.slice(0, LONGEST), candidates);
  return near === undefined ? '' : `; did you mean ${near}?`;
}

/** Of a longer word its beginning counts. */
const LONGEST = 64;

/** Returns how many letters to insert, delete or replace make one word the other. */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
