import {
  faultInChoice,
  faultInEither,
  faultInNeeds,
  faultInPrimitive,
  faultInResource,
  faultInSibling,
  faultOfForm,
  faultOfName,
} from './explain.js';
import { CONTENT, type Plan, type Property } from './plan.js';
import type { ValidationRun } from './run.js';
import { isJson } from '../path/evaluate/item.js';

type Json = Readonly<Record<string, unknown>>;

/**
 * Greatest depth of objects and arrays within each other, as for readers of text; it keeps the stack from running out
 * on what did not come from a reader.
 */
const MAX_DEPTH = 100;

/** Checks a value that has to be a resource. The run is where it lies, and reports what is wrong. */
export function checkResource(value: unknown, run: ValidationRun): void {
  if (!isJson(value) || typeof value['resourceType'] !== 'string' || !run.types.has(value['resourceType'])) {
    faultInResource(run, value);
    return;
  }
  checkObject(run.find(value['resourceType']), value, run);
}

/**
 * The loop that everything goes through: looks up each property of an object, tests it, and sums up in bits what was
 * there. Nothing is allocated until there is a fault.
 */
function checkObject(plan: Plan, object: Json, run: ValidationRun): void {
  if (run.depth >= MAX_DEPTH) {
    run.report('nested-too-deeply', `objects and arrays may be nested ${MAX_DEPTH} deep`);
    return;
  }
  const { properties } = plan;
  let seen = 0;
  for (const key in object) {
    const property = properties.get(key);
    if (property === undefined) {
      seen |= CONTENT;
      faultOfName(run, plan, key);
      // What follows is not listed: millions of unknown names would take minutes to explain.
      if (run.isFull) return;
      continue;
    }
    if ((seen & property.choice) !== 0) faultInChoice(run, plan, property, object);
    seen |= property.bits;
    const value = object[key];
    const { single } = property;
    if (single === undefined) checkProperty(property, value, object, run);
    else if (!single(value)) faultInPrimitive(run, property, value);
  }
  if ((seen & plan.required) !== plan.required) faultInNeeds(run, plan, object, seen);
  if (plan.either !== 0 && ((seen & plan.either) === 0 || (seen & plan.either) === plan.either)) {
    faultInEither(run, plan, object, seen);
  }
}

/** All but the single primitives. */
function checkProperty(property: Property, value: unknown, holder: Json, run: ValidationRun): void {
  if (property.list) {
    if (!Array.isArray(value) || value.length === 0) {
      faultOfForm(run, property, value);
      return;
    }
    run.path[run.depth++] = property;
    if (property.kind === 'primitive') checkPrimitives(property, value, holder, run);
    else if (property.kind === 'sibling') checkSiblings(property, value, holder, run);
    else {
      for (let i = 0; i < value.length && !run.isFull; i++) {
        run.path[run.depth++] = i;
        checkOne(property, value[i], run);
        run.depth--;
      }
    }
  } else {
    run.path[run.depth++] = property;
    if (property.kind === 'sibling') checkSibling(property, value, holder[property.other], run);
    else checkOne(property, value, run);
  }
  run.depth--;
}

/** A complex value or a resource; the run is at it. */
function checkOne(property: Property, value: unknown, run: ValidationRun): void {
  if (property.kind === 'resource') checkResource(value, run);
  else if (isJson(value)) checkObject((property.plan ??= run.find(property.type)), value, run);
  else faultOfForm(run, property, value, true);
}

/** Values of a repeating primitive. `null` stands for a value that has only extensions. */
function checkPrimitives(property: Property, values: readonly unknown[], holder: Json, run: ValidationRun): void {
  const test = property.test!;
  const siblings = holder[property.other];
  const isAligned = Array.isArray(siblings) && siblings.length === values.length;
  if (Array.isArray(siblings) && !isAligned) {
    run.report('misaligned-arrays', misaligned(property, values.length, siblings.length));
  }
  for (let i = 0; i < values.length && !run.isFull; i++) {
    const value = values[i];
    if (test(value) || (value === null && Array.isArray(siblings) && (!isAligned || siblings[i] !== null))) continue;
    run.path[run.depth++] = i;
    faultInPrimitive(run, property, value, true);
    run.depth--;
  }
}

function misaligned(property: Property, values: number, siblings: number): string {
  return `"${property.key}" has length ${values} and "${property.other}" ${siblings}; fill the shorter one up with null`;
}

/** Ids and extensions of a repeating primitive. `null` stands for none. */
function checkSiblings(property: Property, siblings: readonly unknown[], holder: Json, run: ValidationRun): void {
  const values = holder[property.other];
  for (let i = 0; i < siblings.length && !run.isFull; i++) {
    const sibling: unknown = siblings[i];
    // Where neither side has anything, the side of the values says so, if there is one.
    if (sibling === null && values !== undefined) continue;
    run.path[run.depth++] = i;
    checkSibling(property, sibling, Array.isArray(values) ? values[i] : values, run);
    run.depth--;
  }
}

/** Id and extensions of one primitive; the run is at it. */
function checkSibling(property: Property, sibling: unknown, value: unknown, run: ValidationRun): void {
  if (!isJson(sibling)) {
    faultOfForm(run, property, sibling, true);
    return;
  }
  checkObject((property.plan ??= run.find('Element')), sibling, run);
  // An id alone is enough only beside a value.
  if ((value === undefined || value === null) && hasOnlyId(sibling)) faultInSibling(run, property);
}

function hasOnlyId(object: Json): boolean {
  let count = 0;
  for (const key in object) {
    if (key !== 'id') return false;
    count++;
  }
  return count > 0;
}
