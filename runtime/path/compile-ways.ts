import type { PathStep } from '../contract/search.js';
import { childAndTwinStep, childStep, choiceStep, extensionStep, type PrimitiveMatch } from './child.js';
import { collectiveWay, isCollective } from './collective.js';
import { refersStep } from './refers.js';
import { inTurn, isObject, type Focus, type Visit, type Way } from './visit.js';
import { whereStep } from './where.js';

/** A way, how far it has been compiled, and the type that its values have there, as far as the steps say. */
interface Pending<F extends Focus> {
  readonly way: Way<F>;
  readonly at: number;
  readonly type: string | undefined;
}

/**
 * Compiles paths that start at the same value into one visit of it. Ways that begin alike share those steps: what
 * `name.family` and `name.given` have in common is walked once. Values therefore come way by way only where one way
 * is compiled alone. https://hl7.org/fhir/R5/fhirpath.html
 */
export function compileWays<F extends Focus>(ways: readonly Way<F>[], sight: PrimitiveMatch = 'values'): Visit<F> {
  const plain: Pending<F>[] = [];
  const visits: Visit<F>[] = [];
  for (const way of ways) {
    if (way.steps.some(isCollective)) visits.push(collectiveWay(way, compileWays));
    else plain.push({ way, at: 0, type: undefined });
  }
  if (plain.length > 0) visits.unshift(compilePending(plain, sight));
  return inTurn(visits);
}

function compilePending<F extends Focus>(pending: readonly Pending<F>[], sight: PrimitiveMatch): Visit<F> {
  const visits: Visit<F>[] = [];
  const groups = new Map<string, Pending<F>[]>();
  for (const each of pending) {
    const step = each.way.steps[each.at];
    if (step === undefined) {
      visits.push(each.way.end(each.type));
      continue;
    }
    const key = JSON.stringify([step, needsTwin(each)]);
    const group = groups.get(key);
    if (group) group.push(each);
    else groups.set(key, [each]);
  }
  for (const group of groups.values()) visits.push(compileGroup(group, sight));
  return inTurn(visits);
}

/** Whether extensions are asked for next: those of a primitive are beside it, not in it. */
function needsTwin<F extends Focus>({ way, at }: Pending<F>): boolean {
  const next = way.steps[at + 1];
  return next !== undefined && 'extension' in next;
}

/** Compiles ways whose next step is the same. */
function compileGroup<F extends Focus>(group: readonly Pending<F>[], sight: PrimitiveMatch): Visit<F> {
  const [first] = group;
  const step = first?.way.steps[first.at];
  if (first === undefined || step === undefined) return () => {};
  const onward = (type: string | undefined): Visit<F> =>
    compilePending(
      group.map(({ way, at }) => ({ way, at: at + 1, type })),
      sight,
    );
  if ('get' in step) {
    const next = onward(undefined);
    return needsTwin(first) ? childAndTwinStep(step.get, next) : childStep(step.get, sight, next);
  }
  if ('choose' in step) {
    const alternatives = Object.entries(step.choose).map(([name, type]) => [name, onward(type)] as const);
    return choiceStep(alternatives, sight);
  }
  if ('where' in step) {
    const criterion = (found: Visit<F>): Visit<F> => compileWays([{ steps: step.where, end: () => found }], 'presence');
    return whereStep(criterion, step.equals, onward(first.type));
  }
  if ('refers' in step) return refersStep(step.refers, onward(first.type));
  if ('is' in step) return isStep(step.is, onward(step.is));
  if ('extension' in step) return extensionStep(step.extension, onward('Extension'));
  throw new TypeError(`not a path step: ${JSON.stringify(step satisfies PathStep)}`);
}

function isStep<F extends Focus>(type: string, next: Visit<F>): Visit<F> {
  return (value, focus) => {
    if (isObject(value) && value['resourceType'] === type) next(value, focus);
  };
}
