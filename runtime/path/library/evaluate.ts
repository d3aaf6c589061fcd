import { Decimal } from '../../fhir/decimal.js';
import { TooCostly } from '../evaluate/environment.js';
import { library } from './library.js';
import type { Effort } from './linear-regex.js';
import { REGULAR_EFFORT, regularFunctions } from './regular.js';

/** A value that an expression found, and the name of its type: one of FHIR, or `System.String` and the like. */
export interface FoundValue {
  readonly value: unknown;
  readonly type: string;
}

/** Budget of the expressions of one resource: what all of them together may still cost. */
export interface Evaluation {
  /** The resource as the library reads it. */
  readonly resource: object;
  /** The same of a part of it. */
  readonly view: (part: object) => object;
  /** How much there is of a value of it, all that is in it included: about how long a step on it takes. */
  readonly weigh: (value: unknown) => number;
  /** When they have to be done: milliseconds of `performance.now`. What compiling takes does not count. */
  deadline: number;
  /** When they began, and what the process had used of the processor then. Who evaluates some of them later sets it, and the deadline, anew. */
  begun: { readonly at: number; readonly used: NodeJS.CpuUsage };
  /** Steps that they may still take, a step being a value that is looked at. */
  steps: number;
  readonly limits: EvaluationLimits;
  /** What regular expressions may still cost. */
  readonly regular: Effort;
}

/** Finds values. @throws Error where the expression fails on these; TooCostly where it costs too much */
export type EvaluateLibrary = (start: object, evaluation: Evaluation) => readonly FoundValue[];

/** Limits of all expressions on one resource. */
export interface EvaluationLimits {
  /** Values in a resource that the library looks at at all. */
  readonly values: number;
  /** Steps that one expression may take. */
  readonly steps: number;
  /** Steps that all expressions may take together. */
  readonly allSteps: number;
  /** Those that they may take beyond that for each value in the resource. */
  readonly forEach: number;
  /** How long they may take together, in milliseconds, also of processor time: while other programs have it, nothing is counted. */
  readonly time: number;
}

/** What extraction and filters keep to. */
const LIMITS: EvaluationLimits = { values: 100_000, steps: 50_000, allSteps: Infinity, forEach: 0, time: 500 };
/** Greatest length of a text that an expression makes, in UTF-16 code units. */
const MAX_TEXT = 100_000;
/** Greatest number that an expression makes: its square takes little time still. */
const MAX_NUMBER = 2n ** 4096n;
/** Characters of a text that weigh as much as a value. */
const TEXT_WEIGHT = 16;
/** What several values that a step finds may weigh: the next step goes through all of them, which nothing can stop. */
const MAX_WEIGHT = 500_000;
/** Steps of regular expressions for each step that a value allows. */
const REGULAR_STEPS = 8;
/** Units of weight that cost as much as a step. */
const STEP_WEIGHT = 64;
/** The same of pairs that are compared. */
const STEP_PAIRS = 64;

/** Begins to evaluate expressions on a resource. @throws TooCostly where it is too large for that */
export function beginEvaluation(resource: object, limits: EvaluationLimits = LIMITS): Evaluation {
  const begun = { at: performance.now(), used: process.cpuUsage() };
  const copies = new Map<object, object>();
  const weights = new Map<object, number>();
  let left = limits.values;
  const weigh = (value: unknown): number => {
    if (typeof value === 'string') return 1 + value.length / TEXT_WEIGHT;
    return typeof value === 'object' && value !== null ? (weights.get(value) ?? 1) : 1;
  };
  const copy = (value: unknown): unknown => {
    if (--left < 0) throw new TooCostly(`the resource has more than ${shown(limits.values)} values`);
    if (typeof value !== 'object' || value === null) return value;
    if (value instanceof Decimal) return Number(value.text);
    const made = Array.isArray(value)
      ? value.map(copy)
      : Object.fromEntries(Object.entries(value).map(([name, each]) => [name, copy(each)]));
    copies.set(value, made);
    weights.set(
      made,
      Object.values(made).reduce((sum: number, each) => sum + weigh(each), 1),
    );
    return made;
  };
  const root = copy(resource) as object;
  return {
    resource: root,
    view: (part) => copies.get(part) ?? (copy(part) as object),
    weigh,
    deadline: begun.at + limits.time,
    begun,
    steps: limits.allSteps + limits.forEach * (limits.values - left),
    limits,
    regular: { left: REGULAR_EFFORT + REGULAR_STEPS * limits.forEach * (limits.values - left) },
  };
}

/** What compares each value with each other: the library does so within one step, which nothing can stop. */
const COMPARING = /[|~]|\b(?:union|isDistinct|distinct)\b/;
/** Values that a step of such an expression may find. */
const MAX_COMPARED = 1000;
/** Those times what they weigh. */
const MAX_PAIRS = 2_000_000;
/** What they may weigh where that compares the parts of each with each, too. */
const MAX_ALIKE = 3000;

/** What an expression has to keep to, by what is in it. */
interface Bounds {
  readonly values: number;
  readonly pairs: number;
  /** Of one value, too. */
  readonly weight: number;
}

function boundsOf(expression: string): Bounds {
  const compares = COMPARING.test(expression);
  return {
    values: compares ? MAX_COMPARED : Infinity,
    pairs: compares ? MAX_PAIRS : Infinity,
    weight: expression.includes('~') ? MAX_ALIKE : Infinity,
  };
}

/** What the evaluation in hand may still cost: none is begun within another. */
interface Meter {
  readonly evaluation: Evaluation;
  /** Steps of the expression. */
  left: number;
  readonly bounds: Bounds;
}
let meter: Meter | undefined;

const FUNCTIONS = regularFunctions(() => meter?.evaluation.regular ?? { left: REGULAR_EFFORT });

/** Called by the library after each step, so that it can be stopped before one that takes long. */
function spend(_context: unknown, _input: unknown, result: unknown): void {
  if (Array.isArray(result)) leaveNumbers(result);
  if (meter === undefined) return;
  const { evaluation } = meter;
  const { limits, deadline, begun } = evaluation;
  const count = Array.isArray(result) ? 1 + result.length : 1;
  meter.left -= count;
  evaluation.steps -= count + (Array.isArray(result) ? costOf(result, meter) : 0);
  if (meter.left < 0) throw new TooCostly(`the expression takes more than ${shown(limits.steps)} steps`);
  if (evaluation.steps < 0)
    throw new TooCostly(
      `the expressions on the resource take more than ${shown(limits.allSteps)} steps, and ${limits.forEach} for each of its values`,
    );
  if (performance.now() > deadline && processorTime(begun.used) > deadline - begun.at)
    throw new TooCostly(`the expressions on the resource take more than ${limits.time} ms`);
}

/** Milliseconds of the processor since then, of all threads: of this one not more. */
function processorTime(begun: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
}

/**
 * Takes out of a result what was found within a number: the library has numbers as objects, and gave `value` of these for an element,
 * so that `value.value > 50` held for `valueInteger`, too.
 */
function leaveNumbers(result: unknown[]): void {
  const isWithin = (each: unknown): boolean => {
    const inside = (each as Partial<LibraryNode> | null | undefined)?.parentResNode?.data;
    return typeof inside === 'object' && inside !== null && inside.constructor.name.startsWith('FP_Decimal');
  };
  if (!result.some(isWithin)) return;
  const others = result.filter((each) => !isWithin(each));
  result.length = 0;
  for (const each of others) result.push(each);
}

/** What a step costs beyond the number of values that it found. @throws TooCostly where the next step may take long */
function costOf(result: readonly unknown[], { bounds, evaluation }: Meter): number {
  const { length } = result;
  if (length > bounds.values) throw new TooCostly(`the expression compares more than ${shown(bounds.values)} values`);
  let weight = 0;
  let texts = 0;
  for (const each of result) {
    if (typeof each === 'string' && each.length > MAX_TEXT)
      throw new TooCostly(`the expression makes a text of more than ${shown(MAX_TEXT)} characters`);
    if (typeof each === 'bigint' && (each > MAX_NUMBER || each < -MAX_NUMBER))
      throw new TooCostly('the expression makes a number of more than 4,096 bits');
    const { data, _data: beside } = (typeof each === 'object' ? (each ?? {}) : { data: each }) as Partial<LibraryNode>;
    const own = evaluation.weigh(data);
    if (typeof data === 'string') texts += own;
    weight += own + (beside === undefined || beside === null ? 0 : evaluation.weigh(beside));
    if (length > 1 && weight > MAX_WEIGHT) throw new TooCostly('the expression looks at too much at once');
    if (weight > bounds.weight || weight * length > bounds.pairs)
      throw new TooCostly('the expression compares too much');
  }
  return Math.floor(texts / STEP_WEIGHT + (bounds.pairs === Infinity ? 0 : (weight * length) / STEP_PAIRS));
}

function shown(limit: number): string {
  return limit.toLocaleString('en');
}

/**
 * Compiles an expression that was checked.
 *
 * @param base the type that it starts from, where that is a part of a resource: `Observation.component`
 */
export function compileLibrary(expression: string, base?: string): EvaluateLibrary {
  let run: ReturnType<ReturnType<typeof library>['compile']> | undefined;
  const bounds = boundsOf(expression);
  return (start, evaluation) => {
    const { resource, view } = evaluation;
    if (run === undefined) {
      const begun = performance.now();
      run = library().compile(base === undefined ? expression : { base, expression }, {
        resolveInternalTypes: false,
        userInvocationTable: FUNCTIONS,
        debugger: spend,
      });
      evaluation.deadline += performance.now() - begun;
    }
    meter = { evaluation, left: evaluation.limits.steps, bounds };
    try {
      return run(view(start), { resource, rootResource: resource }).flatMap(found);
    } finally {
      // It holds all of the resource.
      meter = undefined;
    }
  };
}

/** An element as the library hands it about. */
interface LibraryNode {
  readonly data: unknown;
  /** What is beside a primitive: its id and extensions. */
  readonly _data?: unknown;
  readonly fhirNodeDataType: string | null;
  readonly parentResNode?: LibraryNode | null;
}

function found(result: unknown): FoundValue[] {
  if (typeof result === 'string') return [{ value: result, type: 'System.String' }];
  if (typeof result === 'boolean') return [{ value: result, type: 'boolean' }];
  if (typeof result === 'number' || typeof result === 'bigint') return [{ value: Number(result), type: 'decimal' }];
  if (typeof result !== 'object' || result === null) return [];
  if ('fhirNodeDataType' in result && 'data' in result) return node(result as LibraryNode);
  return system(result);
}

function node({ data, fhirNodeDataType }: LibraryNode): FoundValue[] {
  if (data === null || data === undefined) return [];
  const value = typeof data === 'object' && isSystem(data) ? system(data)[0]?.value : data;
  return value === undefined ? [] : [{ value, type: fhirNodeDataType ?? 'System.String' }];
}

/** Numbers, times and quantities of FHIRPath itself. */
function isSystem(value: object): boolean {
  return value.constructor.name.startsWith('FP_');
}

function system(value: object): FoundValue[] {
  const name = value.constructor.name;
  const { asStr, value: number, unit } = value as { asStr?: unknown; value?: unknown; unit?: unknown };
  if (name === 'FP_Quantity' || (typeof unit === 'string' && number !== undefined)) {
    const code = String(unit).replace(/^'(.*)'$/, '$1');
    const amount = (number as { asStr?: string }).asStr ?? number;
    const quantity = { value: Number(amount), unit: code, system: 'http://unitsofmeasure.org', code };
    return [{ value: quantity, type: 'Quantity' }];
  }
  if (name.startsWith('FP_Decimal')) return [{ value: Number(asStr ?? String(value)), type: 'decimal' }];
  if (name === 'FP_Time' || typeof asStr !== 'string') return [];
  return [{ value: asStr, type: 'dateTime' }];
}
