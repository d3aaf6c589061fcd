import { editDistance } from '../fhir/nearest.js';

/** Names to offer instead of one that does not exist. */
export interface Nearest {
  /** Whether they are close enough for a slip. */
  readonly near: boolean;
  readonly text: string;
}

/** Longer names are not compared: no name is that long. */
const LONGEST = 64;

/**
 * The names closest to a wrong one: those at most a third of it away, or that it begins (`value` of `valueString`);
 * where there is none, the first few of all.
 */
export function nearestNames(wrong: string, names: readonly string[]): Nearest {
  const folded = wrong.slice(0, LONGEST).toLowerCase();
  const most = Math.max(1, folded.length / 3);
  const scored = names
    .map((name) => ({ name, score: score(folded, name.toLowerCase(), most) }))
    .filter(({ score }) => score <= most)
    .sort((a, b) => a.score - b.score);
  const best = scored.slice(0, 3).map(({ name }) => name);
  if (best.length > 0) return { near: true, text: `${best.map((name) => `"${name}"`).join(' or ')}?` };
  const plain = names.filter((name) => !name.startsWith('_'));
  return { near: false, text: plain.slice(0, 12).join(', ') + (plain.length > 12 ? ', …' : '') };
}

function score(wrong: string, name: string, most: number): number {
  if (wrong.length > 2 && name.startsWith(wrong)) return 0.5;
  if (Math.abs(wrong.length - name.length) > most) return Number.POSITIVE_INFINITY;
  return editDistance(wrong, name);
}
