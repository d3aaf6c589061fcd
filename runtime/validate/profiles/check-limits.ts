import type { ProfileElementRow } from '../../contract/profiles.js';
import { Decimal } from '../../fhir/decimal.js';
import { isObject, type JsonObject, type JsonValue } from '../../fhir/resource.js';
import { boundariesOf, compareTimes, isTemporal } from '../../path/evaluate/times.js';
import { showJson } from './compare-value.js';
import type { ElementValue } from './item.js';
import type { ProfileDeps } from './profile-deps.js';
import type { Finding, ItemCheck, ProfileRun } from './profile-run.js';
import { UCUM } from '../../fhir/ucum/system.js';

/**
 * Compiles the checks of a profile on the length and range of a value, and on whether extensions may take its place. A value
 * that cannot be compared with its limit (`2020` and `2020-06-01`, or units of different dimensions) passes.
 * https://hl7.org/fhir/R5/elementdefinition-definitions.html#ElementDefinition.minValue_x_
 */
export function compileLimits({ maxLength, minValue, maxValue, mustHaveValue }: ProfileElementRow): ItemCheck[] {
  const checks: ItemCheck[] = [];
  if (mustHaveValue === true) checks.push(checkHasValue);
  if (maxLength !== undefined) checks.push(compileMaxLength(maxLength));
  if (minValue !== undefined) checks.push(compileBound(minValue as JsonValue, 'least'));
  if (maxValue !== undefined) checks.push(compileBound(maxValue as JsonValue, 'greatest'));
  return checks;
}

function checkHasValue({ value }: ElementValue, run: ProfileRun): void {
  if (value !== undefined) return;
  run.report(finding('required', 'mustHaveValue', 'must have a value; extensions do not stand for it'));
}

function compileMaxLength(maxLength: number): ItemCheck {
  return ({ value }, run) => {
    // A character may have two code units.
    if (typeof value !== 'string' || value.length <= maxLength || [...value].length <= maxLength) return;
    const text = `has ${[...value].length} characters; the profile admits ${maxLength}`;
    run.report(finding('too-long', 'maxLength', text));
  };
}

/** Which end of a range a limit is. */
type End = 'least' | 'greatest';

function compileBound(limit: JsonValue, end: End): ItemCheck {
  const key = end === 'least' ? 'minValue' : 'maxValue';
  const isLeast = end === 'least';
  return (item, run) => {
    const { value } = item;
    if (value === undefined || !isBeyond(item, limit, end, run)) return;
    const duration = isTemporal(item.type) && isObject(limit);
    const shown = duration ? `${showJson(limit)} ${isLeast ? 'before' : 'after'} now` : showJson(limit);
    const text = `is ${showJson(value)}; the profile admits ${shown} as the ${end} value`;
    run.report(finding('value', key, text));
  };
}

function finding(issue: string, key: string, text: string): Finding {
  return { severity: 'error', issue, key, text };
}

/** Whether a value is certainly beyond a limit. */
function isBeyond({ value, type }: ElementValue, limit: JsonValue, end: End, run: ProfileRun): boolean {
  const sign = end === 'least' ? -1 : 1;
  if (isTemporal(type) && typeof value === 'string') {
    if (isObject(limit)) return isBeyondDuration(value, limit, sign, run.deps.now?.() ?? Date.now());
    return typeof limit === 'string' && (compareTimes(value, limit) ?? 0) * sign > 0;
  }
  if (isObject(value)) return isObject(limit) && isBeyondQuantity(value, limit, sign, run.deps);
  if (type === 'integer64') return isWhole(value) && isWhole(limit) && (BigInt(value) - BigInt(limit)) * BigInt(sign) > 0; // prettier-ignore
  const [number, bound] = [numberOf(value), numberOf(limit)];
  return number !== undefined && bound !== undefined && (number - bound) * sign > 0;
}

function isWhole(value: unknown): value is string {
  return typeof value === 'string' && /^[+-]?\d{1,30}$/.test(value);
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' || value instanceof Decimal ? Number(value) : undefined;
}

/** A limit of a time may be a duration: that long before now, or after it. */
function isBeyondDuration(value: string, duration: JsonObject, sign: number, now: number): boolean {
  const bounds = boundariesOf(value);
  const limit = moved(now, duration, sign);
  if (bounds === undefined || limit === undefined) return false;
  return sign < 0 ? bounds[1] < limit : bounds[0] > limit;
}

const SECOND = 1000;
const DAY = 86_400_000;
/** Milliseconds of the units of durations; months and years are those of the calendar. https://hl7.org/fhir/R5/datatypes.html#Duration */
const LENGTHS: ReadonlyMap<unknown, number> = new Map(
  Object.entries({ ms: 1, s: SECOND, min: 60 * SECOND, h: 3600 * SECOND, d: DAY, wk: 7 * DAY }),
);

function moved(now: number, { value, code }: JsonObject, sign: number): number | undefined {
  const amount = numberOf(value);
  if (amount === undefined) return undefined;
  const length = LENGTHS.get(code);
  if (length !== undefined) return now + sign * amount * length;
  if (code !== 'mo' && code !== 'a') return undefined;
  const date = new Date(now);
  date.setUTCMonth(date.getUTCMonth() + sign * Math.trunc(code === 'a' ? 12 * amount : amount));
  const time = date.getTime();
  return Number.isNaN(time) ? undefined : time;
}

/** A comparator says on which side the quantity is: `< 5 mg` is certainly below 5 mg, and may be below 4 mg. */
function isBeyondQuantity(quantity: JsonObject, limit: JsonObject, sign: number, deps: ProfileDeps): boolean {
  const difference = differenceOf(quantity, limit, deps);
  if (difference === undefined) return false;
  switch (quantity['comparator']) {
    case undefined:
      return difference * sign > 0;
    case '<':
      return sign < 0 && difference <= 0;
    case '<=':
      return sign < 0 && difference < 0;
    case '>':
      return sign > 0 && difference >= 0;
    case '>=':
      return sign > 0 && difference > 0;
    default:
      return false;
  }
}

/** Undefined: there is none between their units. */
function differenceOf(quantity: JsonObject, limit: JsonObject, deps: ProfileDeps): number | undefined {
  const [a, b] = [numberOf(quantity['value']), numberOf(limit['value'])];
  if (a === undefined || b === undefined) return undefined;
  if (unitOf(quantity) === unitOf(limit) && quantity['system'] === limit['system']) return a - b;
  const [one, other] = [converted(quantity, a, deps), converted(limit, b, deps)];
  if (one === undefined || other === undefined || one.unit !== other.unit) return undefined;
  return one.value - other.value;
}

function unitOf({ code, unit }: JsonObject): unknown {
  return code ?? unit;
}

function converted({ system, code }: JsonObject, value: number, { toCanonicalUnit }: ProfileDeps) {
  return system === UCUM && typeof code === 'string' ? toCanonicalUnit?.(value, code) : undefined;
}
