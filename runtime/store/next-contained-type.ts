import { compareText } from '../search/query/compare-text.js';
import type { Condition, Target } from '../search/query/query.js';
import { idsOfContainers, isContainedType, CONTAINED } from './contained-resources.js';

/** Asks for the first id of a member type that does not come before another; the answer is undefined where there is none. */
export interface Seek {
  readonly type: string;
  readonly from: string;
}

/** One look at the index after the other, each for what the one before did not tell. */
export type Seeks = Generator<Seek, readonly Target[], string | undefined>;

/**
 * The parts of a search without those that look for resources with something within them, of types of which none has any: a
 * search that looks into containers asks all types, and few contain something. It takes as many looks as there are types that do,
 * where to ask each part would take a search.
 */
export function* partsWithMembers(parts: readonly Target[]): Seeks {
  const empty = new Set<Target>();
  for (const type of new Set(parts.flatMap(wantedIn))) {
    const into = parts.filter((part) => wantedIn(part).includes(type));
    // As ids sort, and not names: what ends comes before what goes on, and so does the slash.
    const sorted = into.map((part) => ({ part, from: idsOfContainers(part.type) })).sort((a, b) => compareText(a.from, b.from)); // prettier-ignore
    let next: string | undefined = '';
    for (const { part, from } of sorted) {
      if (next !== undefined && compareText(next, from) < 0) next = yield { type, from };
      if (next?.startsWith(from) !== true) empty.add(part);
    }
  }
  return parts.filter((part) => !empty.has(part));
}

/** Looks where answers are at hand. */
export function seek(seeks: Seeks, answer: (seek: Seek) => string | undefined): readonly Target[] {
  let at = seeks.next();
  while (at.done !== true) at = seeks.next(answer(at.value));
  return at.value;
}

/** Looks like `seek` where answers come asynchronously. */
export async function seekLater(
  seeks: Seeks,
  answer: (seek: Seek) => Promise<string | undefined>,
): Promise<readonly Target[]> {
  let at = seeks.next();
  while (at.done !== true) at = seeks.next(await answer(at.value));
  return at.value;
}

/** The types of members of which each match has one within it, or nothing matches. */
function wantedIn({ where }: Pick<Target, 'where'>): readonly string[] {
  const conjuncts: readonly Condition[] = 'all' in where ? where.all : [where];
  return conjuncts.flatMap((each) =>
    'has' in each && isContainedType(each.has.type) && each.has.param === CONTAINED.container ? [each.has.type] : [],
  );
}
