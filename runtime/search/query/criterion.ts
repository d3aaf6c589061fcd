import { countWords } from '../text/has-words.js';
import type { Condition, Criterion, LinkCriterion } from './query.js';

/** Whether hierarchies, membership or sets of codes are in it: then the store has to be asked before it is a condition. */
export function isUnresolved(criterion: Criterion): boolean {
  if ('hierarchies' in criterion || 'members' in criterion || 'codes' in criterion) return true;
  return isLink(criterion) && targetsOf(criterion).some(({ where }) => isUnresolved(where));
}

/** Whether it asks for other resources: a chain, or a reverse chain. */
export function isLink(criterion: Criterion): criterion is LinkCriterion {
  return 'chain' in criterion || 'has' in criterion;
}

/** What a link asks of the resources at its other end. */
export function targetsOf(link: LinkCriterion) {
  return 'chain' in link ? link.chain : [link.has];
}

/** How much a store has to compile for a criterion: the tests in it, and one for each step to a type. */
export function weightOf(criterion: Criterion): number {
  if ('members' in criterion) return criterion.of.length;
  if ('codes' in criterion) return criterion.codes.length;
  if ('hierarchies' in criterion) return sum(criterion.hierarchies.map(({ ids }) => ids.length));
  if (isLink(criterion)) return sum(targetsOf(criterion).map(({ where }) => 1 + weightOf(where)));
  return weightOfCondition(criterion);
}

function weightOfCondition(condition: Exclude<Condition, LinkCriterion>): number {
  if ('all' in condition) return sum(condition.all.map(weightOf));
  if ('some' in condition) return sum(condition.some.map(weightOf));
  if ('not' in condition) return weightOf(condition.not);
  if ('ids' in condition) return condition.ids.length;
  if ('updated' in condition) return condition.updated.length;
  if ('any' in condition) return condition.any.length;
  if ('places' in condition) return condition.places.length;
  if ('words' in condition) return countWords(condition.words);
  return 'composite' in condition ? sum(condition.composite.map((parts) => parts.length)) : 1;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
