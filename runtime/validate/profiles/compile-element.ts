import { append } from '../../fhir/lists.js';
import type { ProfileElementRow, ProfileRow } from '../../contract/profiles.js';
import { compileBinding } from './check-profile-binding.js';
import { compileLimits } from './check-limits.js';
import { compileTypes } from './check-types.js';
import { fitsPattern, isFixed, showJson } from './compare-value.js';
import { compileSlicing } from './slicing/compile-slicing.js';
import { childrenOf } from './item.js';
import { partOf } from './find-part.js';
import type { ItemCheck } from './profile-run.js';
import { memoizeWeak } from '../../fhir/memory/memoize.js';

/** Compiles what a profile says about its whole value. */
export const compileProfile = memoizeWeak((row: ProfileRow): ItemCheck => compileValue(row.root, row));

/** Checks of elements, kept as long as the rows are. */
const compiled = new WeakMap<ProfileElementRow, ItemCheck>();

/** Compiles what a profile says about one of its elements, named by its id: `Composition.section:plan`. */
export function compilePart(row: ProfileRow, id: string): ItemCheck | undefined {
  const part = partOf(row, id);
  if (part === undefined) return undefined;
  const known = compiled.get(part);
  if (known !== undefined) return known;
  const check = compileValue(part, row);
  compiled.set(part, check);
  return check;
}

/** All that is said about one value of an element, its slicing left out. */
export function compileValue(row: ProfileElementRow, profile: ProfileRow): ItemCheck {
  const checks: ItemCheck[] = [];
  const { fixed, pattern, binding, rules = [], types, like, children = [] } = row;
  if (types !== undefined) checks.push(compileTypes(types));
  if (fixed !== undefined) checks.push(compileFixed(fixed));
  if (pattern !== undefined) checks.push(compilePattern(pattern));
  append(checks, compileLimits(row));
  if (binding !== undefined) checks.push(compileBinding(binding));
  append(
    checks,
    children.map((child) => compileMember(child, profile)),
  );
  if (like !== undefined) checks.push(compileLike(like, profile));
  for (const { key, severity, expression, human } of rules) {
    checks.push((item, run) => {
      const holds = run.evaluate({ key, expression }, item);
      if (holds === true) return;
      if (holds === undefined) {
        const text = `rule ${key} cannot be decided here, so it was not checked: ${human} (${expression})`;
        run.reportOnce(`rule ${key} ${expression}`, { severity: 'warning', issue: 'not-supported', key, text });
        return;
      }
      run.report({ severity, issue: 'invariant', key, text: `rule ${key}: ${human} (${expression})` });
    });
  }
  const [only] = checks;
  if (checks.length === 1) return only!;
  return (item, run) => {
    for (const check of checks) check(item, run);
  };
}

/** What is said about another element. One that a definition likens to itself, in a circle, says nothing more. */
function compileLike(like: string, profile: ProfileRow): ItemCheck {
  const name = `${profile.url}#${like}`;
  return (item, run) => {
    const check = (): void => compilePart(profile, like)?.(item, run);
    if (typeof item.value === 'object' && item.value !== null) run.once(item.value, name, check);
  };
}

function compileFixed(fixed: unknown): ItemCheck {
  const text = `has to be ${showJson(fixed)}`;
  return ({ value }, run) => {
    if (!isFixed(value, fixed)) run.report({ severity: 'error', issue: 'value', key: 'fixed', text });
  };
}

function compilePattern(pattern: unknown): ItemCheck {
  const text = `has to have ${showJson(pattern)}`;
  return ({ value }, run) => {
    if (!fitsPattern(value, pattern)) run.report({ severity: 'error', issue: 'value', key: 'pattern', text });
  };
}

/** All that is said about an element of the value that the run is at. */
function compileMember(row: ProfileElementRow, profile: ProfileRow): ItemCheck {
  const { name, min = 0, max = Number.POSITIVE_INFINITY } = row;
  const check = compileValue(row, profile);
  const slicing =
    row.slicing !== undefined || row.slices !== undefined
      ? compileSlicing(row, (each) => compileValue(each, profile))
      : undefined;
  // What the slices require is reported of the slices.
  const required = (row.slices ?? []).reduce((sum, slice) => sum + (slice.min ?? 0), 0);
  const isOfSlices = row.choice !== true && min > 0 && required >= min;
  const range = max === Number.POSITIVE_INFINITY ? `at least ${min}` : `${min} to ${max}`;
  return (holder, run) => {
    run.spend();
    const items = childrenOf(holder, name, run.deps.types);
    const count = items.length;
    if ((count < min && !(isOfSlices && count === 0)) || count > max) {
      const text =
        max === 0
          ? 'must not be present'
          : count === 0
            ? `is missing; ${min === 1 ? 'it is required' : `at least ${min} are required`}`
            : `is there ${count} times; it has to be ${range}`;
      run.report({ severity: 'error', issue: count < min ? 'required' : 'structure', key: 'cardinality', text }, name);
    } else if (count === 0 && row.mustSupport === true && run.deps.tellsAll === true) {
      const text = 'is absent; systems that follow the profile have to support it';
      run.report({ severity: 'information', issue: 'informational', key: 'must-support', text }, name);
    }
    if (count > 0) run.path[run.depth++] = name;
    for (const item of items) {
      if (item.at !== undefined) run.path[run.depth++] = item.at;
      check(item, run);
      if (item.at !== undefined) run.depth--;
    }
    if (count > 0) run.depth--;
    // Where nothing is there, that a slice is missing goes without saying.
    if (count > 0 || min === 0 || isOfSlices) slicing?.(items, run);
  };
}
