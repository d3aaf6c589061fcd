import type { PathStep } from '../../../runtime/contract/index.js';

/** Steps with one fault, and what it is. */
export interface Mutant {
  readonly what: string;
  readonly steps: readonly PathStep[];
}

/** The steps with each single one of them wrong in its own way. */
export function mutants(steps: readonly PathStep[]): readonly Mutant[] {
  return steps.flatMap((step, at) =>
    alter(step).map(({ what, steps: instead }) => ({
      what: `step ${at}: ${what}`,
      steps: [...steps.slice(0, at), ...instead, ...steps.slice(at + 1)],
    })),
  );
}

function alter(step: PathStep): readonly Mutant[] {
  if ('get' in step) return [one(`not ${step.get}`, { get: `${step.get}X` })];
  if ('choose' in step) {
    return Object.keys(step.choose).map((name) => {
      const { [name]: _, ...rest } = step.choose;
      return one(`without ${name}`, { choose: rest });
    });
  }
  if ('refers' in step) return [one('any target', undefined), one('another target', { refers: 'Unheard' })];
  if ('extension' in step) return [one('another url', { extension: `${step.extension}x` })];
  if ('index' in step) return [one('all', undefined), one('the next', { index: step.index + 1 })];
  if ('union' in step) return step.union.map((_, i) => one(`without way ${i}`, { union: step.union.toSpliced(i, 1) }));
  if ('where' in step) {
    const { equals } = step;
    const criteria = mutants(step.where).map(({ what, steps }) => one(what, { ...step, where: steps }));
    if (equals === undefined) return [one('without where', undefined), ...criteria];
    return [one('without where', undefined), one('where exists', { where: step.where }), ...criteria];
  }
  return [one('left out', undefined)];
}

function one(what: string, step: PathStep | undefined): Mutant {
  return { what, steps: step === undefined ? [] : [step] };
}
