import { countWords } from '../text/has-words.js';
import type { CoveredLeaf, Criterion, Leaf, LinkCriterion } from './query.js';
import { sum } from '../../fhir/lists.js';

/** Whether hierarchies, membership or sets of codes are in it: then the store has to be asked before it is a condition. */
export function isUnresolved(criterion: Criterion): boolean {
  if ('hierarchies' in criterion || 'members' in criterion || 'codes' in criterion) return true;
  if ('all' in criterion) return criterion.all.some(isUnresolved);
  if ('some' in criterion) return criterion.some.some(isUnresolved);
  if ('not' in criterion) return isUnresolved(criterion.not);
  return isLink(criterion) && targetsOf(criterion).some(({ where }) => isUnresolved(where));
}

/** Whether it asks for other resources: a chain, or a reverse chain. */
export function isLink(criterion: Criterion): criterion is LinkCriterion {
  return 'chain' in criterion || 'has' in criterion;
}

/** Whether other parameters have the values that it asks for, too. */
export function isCovered(criterion: Criterion): criterion is CoveredLeaf {
  return 'coveredBy' in criterion && criterion.coveredBy !== undefined;
}

/** Whether it asks for other resources anywhere. */
export function holdsLink(criterion: Criterion): boolean {
  if (isLink(criterion)) return true;
  if ('all' in criterion) return criterion.all.some(holdsLink);
  if ('some' in criterion) return criterion.some.some(holdsLink);
  return 'not' in criterion && holdsLink(criterion.not);
}

/** Whether it asks for words of the resource itself anywhere. */
export function holdsWords(criterion: Criterion): boolean {
  if ('words' in criterion) return true;
  if ('all' in criterion) return criterion.all.some(holdsWords);
  if ('some' in criterion) return criterion.some.some(holdsWords);
  return 'not' in criterion && holdsWords(criterion.not);
}

/** Returns the types and criteria that a link requires of the resources at its other end. */
export function targetsOf(link: LinkCriterion) {
  return 'chain' in link ? link.chain : [link.has];
}

/** How much a store has to compile for a criterion: the tests in it, and one for each step to a type. */
export function weightOf(criterion: Criterion): number {
  if ('members' in criterion) return criterion.of.length;
  if ('codes' in criterion) return criterion.codes.length;
  if ('hierarchies' in criterion) return sum(criterion.hierarchies.map(({ ids }) => ids.length));
  if (isLink(criterion)) return sum(targetsOf(criterion).map(({ where }) => 1 + weightOf(where)));
  if ('all' in criterion) return sum(criterion.all.map(weightOf));
  if ('some' in criterion) return sum(criterion.some.map(weightOf));
  return 'not' in criterion ? weightOf(criterion.not) : weightOfLeaf(criterion);
}

function weightOfLeaf(condition: Leaf): number {
  if ('ids' in condition) return condition.ids.length;
  if ('updated' in condition) return condition.updated.length;
  if ('any' in condition) return condition.any.length;
  if ('places' in condition) return condition.places.length;
  if ('words' in condition) return countWords(condition.words);
  return 'composite' in condition ? sum(condition.composite.map((parts) => parts.length)) : 1;
}
