import type { PathStep } from '../contract/search.js';
import type { PrimitiveMatch } from './child.js';
import { equalityKey } from './equality-key.js';
import type { Focus, Visit, Way } from './visit.js';
import { memoize } from '../fhir/memory/memoize.js';

type CollectiveStep = Extract<PathStep, { index: number } | { union: unknown } | { notFalse: true }>;
type Compile = <F extends Focus>(ways: readonly Way<F>[], sight: PrimitiveMatch) => Visit<F>;

/** A value on its way, with the type that is known from the steps. */
interface Found {
  readonly value: unknown;
  readonly type: string | undefined;
}

/** Focus of the stretches between collective steps: they fill a list. */
interface Gathering extends Focus {
  readonly found: Found[];
}

/** Whether a step looks at all values found so far at once, not at one after the other. */
export function isCollective(step: PathStep): step is CollectiveStep {
  return 'index' in step || 'union' in step || 'notFalse' in step;
}

/**
 * Compiles a way that has collective steps: each stretch of plain steps before one fills a list, which the collective
 * step turns into the next. Few rows need it, so lists are allocated freely here.
 */
export function collectiveWay<F extends Focus>(way: Way<F>, compile: Compile): Visit<F> {
  const cut = way.steps.findLastIndex(isCollective);
  const lists = compileList(way.steps.slice(0, cut + 1), compile);
  const rest = way.steps.slice(cut + 1);
  const ends = memoize((type: string | undefined) =>
    compile<F>([{ steps: rest, end: (told) => way.end(told ?? keptType(rest, type)) }], 'values'),
  );
  return (value, focus) => {
    for (const found of lists([{ value, type: undefined }], focus)) {
      if (found.value !== undefined) ends(found.type)(found.value, focus);
    }
  };
}

/** Steps that only keep or drop values leave their type as it was. */
function keptType(steps: readonly PathStep[], type: string | undefined): string | undefined {
  return steps.every((step) => 'where' in step || 'refers' in step) ? type : undefined;
}

type ListStep = (input: readonly Found[], focus: Focus) => readonly Found[];

function compileList(steps: readonly PathStep[], compile: Compile): ListStep {
  const parts: ListStep[] = [];
  let stretch: PathStep[] = [];
  const close = (): void => {
    if (stretch.length > 0) parts.push(plainList(stretch, compile));
    stretch = [];
  };
  for (const step of steps) {
    if (isCollective(step)) {
      close();
      parts.push(collectiveList(step, compile));
    } else stretch.push(step);
  }
  close();
  return (input, focus) => parts.reduce((list, part) => part(list, focus), input);
}

function plainList(steps: readonly PathStep[], compile: Compile): ListStep {
  const runs = memoize((before: string | undefined) =>
    compile<Gathering>(
      [
        {
          steps,
          end: (told) => {
            const type = told ?? keptType(steps, before);
            return (value, { found }) => found.push({ value, type });
          },
        },
      ],
      'presence',
    ),
  );
  return (input, { root, charge }) => {
    const found: Found[] = [];
    const focus: Gathering = charge === undefined ? { root, found } : { root, found, charge };
    for (const { value, type } of input) runs(type)(value, focus);
    return found;
  };
}

function collectiveList(step: CollectiveStep, compile: Compile): ListStep {
  if ('index' in step) {
    return (input) => {
      const at = input[step.index];
      return at === undefined ? [] : [at];
    };
  }
  if ('notFalse' in step) return (input) => [{ value: isNotFalse(input), type: 'boolean' }];
  const ways = step.union.map((steps) => compileList(steps, compile));
  return (input, focus) => {
    const all = ways.flatMap((way) => way(input, focus));
    if (all.length < 2) return all;
    for (const { value } of all) focus.charge?.(value);
    return distinct(all);
  };
}

/** The first of each that are equal. */
function distinct(all: readonly Found[]): readonly Found[] {
  const seen = new Set<string>();
  return all.filter(({ value }) => {
    const before = seen.size;
    return seen.add(equalityKey(value)).size > before;
  });
}

/** `x.exists() and x != false`: of nothing it is false; of anything but one `false` it is true. */
function isNotFalse(input: readonly Found[]): boolean {
  return input.length > 0 && !(input.length === 1 && input[0]?.value === false);
}
