import type { Covering } from '../../../../indexing/covering.js';
import { isCovered } from '../../../../search/query/criterion.js';
import type { Condition, CoveredLeaf, Target, WordsLeaf, WordsTest } from '../../../../search/query/query.js';
import { isCoded } from './leaf.js';
import { beginningsOf, hasBeginning } from '../../write/words.js';

/**
 * Simplifies a condition: removes needless nesting and repeated conditions. Repeated ones are recognized as the same
 * object, because a deep condition may have one object at many places. Beginnings of words become conditions of their
 * own, because another table has them.
 */
export function simplify(condition: Condition, done = new Map<Condition, Condition>()): Condition {
  const known = done.get(condition);
  if (known !== undefined) return known;
  const simple = simplifyOne(condition, done);
  done.set(condition, simple);
  done.set(simple, simple);
  return simple;
}

function simplifyOne(condition: Condition, done: Map<Condition, Condition>): Condition {
  if ('not' in condition) {
    const inner = simplify(condition.not, done);
    return 'not' in inner ? inner.not : { not: inner };
  }
  if ('all' in condition) {
    const parts = condition.all.map((each) => simplify(each, done));
    const all = new Set(parts.flatMap((each) => ('all' in each ? each.all : [each])));
    return all.size === 1 ? [...all][0]! : { all: [...all] };
  }
  if ('some' in condition) {
    const parts = condition.some.map((each) => simplify(each, done));
    const some = new Set(parts.flatMap((each) => ('some' in each ? each.some : [each])));
    return some.size === 1 ? [...some][0]! : { some: [...some] };
  }
  const beyond = <T extends Target>(target: T): T => ({ ...target, where: simplify(target.where, done) });
  if ('chain' in condition) return { ...condition, chain: condition.chain.map(beyond) };
  if ('has' in condition) return { has: beyond(condition.has) };
  if (isCovered(condition)) return isUnlisted(condition) ? withCovering(condition) : condition;
  if (!('words' in condition) || !hasBeginning(condition.words)) return condition;
  return beginningsOf(condition.words) === undefined ? simplify(apart(condition), done) : condition;
}

/** Whether the parts that it asks for are in no index by value. */
function isUnlisted(leaf: CoveredLeaf): boolean {
  return 'present' in leaf || !leaf.composite.every(isCoded);
}

/** What they became, so that a condition which is simplified twice has nothing twice. */
const covering = new WeakMap<CoveredLeaf, Condition>();

/** What follows from a condition beside it. */
const implied = new WeakSet<Condition>();

/** Whether a condition follows from another one beside it: resources are found by it, and need not be asked for it. */
export function isImplied(condition: Condition): boolean {
  return implied.has(condition);
}

/** The same, and what follows from it for parameters that have the values of the parts, too: by these it is found. */
function withCovering(condition: CoveredLeaf): Condition {
  let found = covering.get(condition);
  if (found === undefined) {
    const more = condition.coveredBy.map((by, i) => impliedBy(condition, by, i));
    for (const each of more) implied.add(each);
    found = { all: [condition, ...more] };
    covering.set(condition, found);
  }
  return found;
}

function impliedBy(condition: CoveredLeaf, { param, kind }: Covering, part: number): Condition {
  if ('present' in condition) return { param, present: kind };
  return { param, any: condition.composite.flatMap((parts) => parts[part] ?? []) };
}

/** A test of words and beginnings as one of several conditions. */
function apart(leaf: WordsLeaf): Condition {
  const test = leaf.words;
  const each = (words: WordsTest): Condition => ({ ...leaf, words });
  if ('some' in test) return { some: test.some.map(each) };
  if ('all' in test) return { all: [...test.all.map(each), ...test.none.map((words) => ({ not: each(words) }))] };
  return each(test);
}
