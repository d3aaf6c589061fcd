/** Which arm of a source: its place, how many there are, and what it is whatever their number. */
export type ArmName = readonly [place: number, count: number, name: string];

/** A short name, of which a dozen hardly have the same: FNV-1a. */
export function shortName(texts: readonly string[]): string {
  let hash = 0x811c9dc5;
  for (const text of texts)
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(36);
}

/**
 * The place of an arm that a page before ended in; below 0: there is no such arm any more. Where there are as many as before, values of
 * theirs may be others: times that depend on the present.
 */
export function placeOfArm(names: readonly string[], [place, count, name]: ArmName): number {
  if (names[place] === name) return place;
  const found = names.indexOf(name);
  return found < 0 && names.length === count ? place : found;
}
