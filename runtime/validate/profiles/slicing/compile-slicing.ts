import type { ProfileElementRow, SlicingRow } from '../../../contract/profiles.js';
import type { ElementValue } from '../item.js';
import type { ItemCheck, ProfileRun } from '../profile-run.js';
import { sliceTest, type SliceTest } from './slice-test.js';

/** Checks the values of a sliced element; the run is at what holds them. */
export type SlicingCheck = (items: readonly ElementValue[], run: ProfileRun) => void;

/** What tells slices apart where a profile names nothing: extensions have a url, and each value of a choice has a type. */
function slicingOf({ name, choice, slicing }: ProfileElementRow): SlicingRow {
  const { discriminators, ...rest } = slicing ?? { discriminators: [], rules: 'open' };
  if (discriminators.length > 0) return { discriminators, ...rest };
  if (name === 'extension' || name === 'modifierExtension') return { discriminators: [{ type: 'value', path: 'url' }], ...rest }; // prettier-ignore
  return { discriminators: choice === true ? [{ type: 'type', path: '$this' }] : [], ...rest };
}

/**
 * Compiles slices, and those within them. https://hl7.org/fhir/R5/profiling.html#slicing
 *
 * @param compile what is said about one value
 */
export function compileSlicing(
  element: ProfileElementRow,
  compile: (row: ProfileElementRow) => ItemCheck,
): SlicingCheck {
  const { name, slices: rows = [] } = element;
  const slicing = slicingOf(element);
  const slices = rows.map((row, position) => compileSlice(row, position, slicing, compile));
  return (items, run) => {
    const told = slices.filter((slice) => isTold(slice, slices, run));
    const isPartial = told.length < slices.length;
    if (isPartial) reportUntold(slices.filter((slice) => !told.includes(slice)), name, run); // prettier-ignore
    // A value of no slice may be of one that nothing tells apart.
    const rules = isPartial && slicing.rules === 'closed' ? 'open' : slicing.rules;
    const { found, isWhole } = assign(items, told, { ...slicing, rules }, run, name);
    told.forEach((slice, i) => checkSlice(slice, found[i]!, isWhole, run));
  };
}

/** Whether the discriminators tell the values of a slice from those of the others. */
function isTold(slice: Slice, slices: readonly Slice[], run: ProfileRun): boolean {
  const own = textsOf(slice, run);
  if (own === '') return false;
  // A text that was cut may be another one.
  return own.includes('…') || slices.every((each) => each === slice || textsOf(each, run) !== own);
}

function textsOf(slice: Slice, run: ProfileRun): string {
  return slice
    .tests(run)
    .map(({ text }) => text)
    .join(', ');
}

/** What nothing tells apart cannot be checked, and is no fault of the values. */
function reportUntold(slices: readonly Slice[], name: string, run: ProfileRun): void {
  if (run.deps.tellsAll !== true) return;
  const labels = slices.map(({ label }) => label).join(', ');
  const text = `no discriminator tells which values are of the slices ${labels}, so these were not checked`;
  run.report({ severity: 'information', issue: 'informational', key: 'slicing', text }, name);
}

interface Slice {
  readonly row: ProfileElementRow;
  readonly label: string;
  readonly check: ItemCheck;
  /** Reslicing. */
  readonly inner: SlicingCheck | undefined;
  readonly tests: (run: ProfileRun) => readonly SliceTest[];
}

function compileSlice(
  row: ProfileElementRow,
  position: number,
  { discriminators }: SlicingRow,
  compile: (row: ProfileElementRow) => ItemCheck,
): Slice {
  let known: readonly SliceTest[] | undefined;
  return {
    ...{ row, label: row.slice ?? '', check: compile(row) },
    inner: row.slicing === undefined && row.slices === undefined ? undefined : compileSlicing(row, compile),
    tests(run) {
      if (known !== undefined) return known;
      const tests = discriminators.flatMap((each) => sliceTest(row, each, position, run) ?? []);
      // What rests on other profiles is found again in each pass: they may not be there yet, or change.
      const isWhole = tests.length === discriminators.length && tests.every(({ isForeign }) => !isForeign);
      if (isWhole) known = tests;
      return tests;
    },
  };
}

/** Gives each value to the first slice that it belongs to, and tells of values that may not be where they are. */
function assign(
  items: readonly ElementValue[],
  slices: readonly Slice[],
  { rules, ordered }: SlicingRow,
  run: ProfileRun,
  name: string,
): { readonly found: readonly (readonly ElementValue[])[]; readonly isWhole: boolean } {
  const found: ElementValue[][] = slices.map(() => []);
  let last = 0;
  let hasOther = false;
  let isWhole = true;
  for (const item of items) {
    run.hasUnresolved = false;
    const index = slices.findIndex((slice) => belongs(item, slice, run));
    const slice = slices[index];
    if (slice === undefined) {
      // A reference that leads to what is not here may be of any slice.
      if (run.hasUnresolved) {
        isWhole = false;
        continue;
      }
      hasOther = true;
      if (rules === 'closed') {
        const known = slices.map((each) => describe(each, run)).join('; ');
        tell(item, name, `belongs to no slice, and the profile admits no others; the slices are: ${known}`, run);
      }
      continue;
    }
    found[index]!.push(item);
    if (rules === 'openAtEnd' && hasOther) {
      tell(item, name, `is of the slice ${slice.label}; values of no slice have to come after it`, run);
    }
    if (ordered === true && index < last) {
      tell(item, name, `is of the slice ${slice.label}; it has to come before the slice ${slices[last]!.label}`, run);
    }
    last = Math.max(last, index);
  }
  return { found, isWhole };
}

function belongs(item: ElementValue, slice: Slice, run: ProfileRun): boolean {
  return slice.tests(run).every(({ test }) => test(item, run));
}

function checkSlice(slice: Slice, items: readonly ElementValue[], isWhole: boolean, run: ProfileRun): void {
  const { row, label, check, inner } = slice;
  const { name, min = 0, max = Number.POSITIVE_INFINITY } = row;
  const outer = run.slice;
  const count = items.length;
  if ((count < min && isWhole) || count > max) {
    const wanted = max === Number.POSITIVE_INFINITY ? `at least ${min}` : min === max ? `${min}` : `${min} to ${max}`;
    const text = `there ${count === 1 ? 'is 1 value' : `are ${count} values`} of the slice ${describe(slice, run)}; the profile wants ${wanted}${count < min ? hint(slice, run) : ''}`;
    run.report({ severity: 'error', issue: count < min ? 'required' : 'structure', key: 'slicing', text }, name);
  } else if (count === 0 && row.mustSupport === true && run.deps.tellsAll === true) {
    const text = `the slice ${label} is absent; systems that follow the profile have to support it`;
    run.report({ severity: 'information', issue: 'informational', key: 'must-support', text }, name);
  }
  run.slice = label;
  for (const item of items) at(item, name, run, () => check(item, run));
  run.slice = outer;
  inner?.(items, run);
}

/** Why a value that was meant for a slice does not conform to the profile of that is not reported here: it may be meant for another one. */
function hint(slice: Slice, run: ProfileRun): string {
  const [profile] = slice.tests(run).flatMap(({ profiles = [] }) => profiles);
  return profile === undefined ? '' : `; $validate?profile=${profile} tells why a value does not conform`;
}

function describe(slice: Slice, run: ProfileRun): string {
  const texts = slice.tests(run).map(({ text }) => text);
  return texts.length === 0 ? slice.label : `${slice.label} (${texts.join(', ')})`;
}

function tell(item: ElementValue, name: string, text: string, run: ProfileRun): void {
  at(item, name, run, () => run.report({ severity: 'error', issue: 'structure', key: 'slicing', text }));
}

function at(item: ElementValue, name: string, run: ProfileRun, work: () => void): void {
  const { depth } = run;
  run.path[run.depth++] = name;
  if (item.at !== undefined) run.path[run.depth++] = item.at;
  work();
  run.depth = depth;
}
