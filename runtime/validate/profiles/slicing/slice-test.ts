import type { DiscriminatorRow, ProfileElementRow } from '../../../contract/profiles.js';
import { codesOf, isAnyMember } from '../check-profile-binding.js';
import { isType } from '../check-types.js';
import { fitsPattern, isFixed, showJson } from '../compare-value.js';
import { follow, followAll, followReference, parsePath, type PathPart } from './discriminator-path.js';
import { childrenOf, type ElementValue } from '../item.js';
import type { ProfileRun } from '../profile-run.js';
import { baseType, typeOfProfile } from '../profile-type.js';
import { stepRow } from './slice-rows.js';
import { PENDING } from '../answers.js';

/** Whether a value belongs to a slice, as far as one discriminator tells. */
export interface SliceTest {
  readonly test: (item: ElementValue, run: ProfileRun) => boolean;
  /** What would be right, for people. */
  readonly text: string;
  /** It rests on another profile, and is made anew for each pass. */
  readonly isForeign: boolean;
  /** The profiles that a value has to conform to. */
  readonly profiles?: readonly string[];
}

/**
 * The test that a discriminator makes of a slice. Undefined: the slice says nothing about what it looks at.
 *
 * @param position of the slice among its siblings
 */
export function sliceTest(
  slice: ProfileElementRow,
  { type, path }: DiscriminatorRow,
  position: number,
  run: ProfileRun,
): SliceTest | undefined {
  if (type === 'position') {
    return { test: ({ at = 0 }) => at === position, text: `position ${position + 1}`, isForeign: false };
  }
  const parts = parsePath(path);
  if (parts === undefined) return undefined;
  if (type === 'value' || type === 'pattern') return named(path, contentAt(slice, parts, run));
  const end = rowAt(slice, parts, run);
  if (end === undefined) return undefined;
  const { row, isForeign } = end;
  if (type === 'exists') return existence(row, path, parts, isForeign);
  const types = row.types ?? [];
  if (type === 'type') return typeTest(row, parts, isForeign, run);
  const profiles = types.flatMap((each) => [...(each.profiles ?? []), ...(each.targets ?? [])]);
  // The definition of a type as a profile is left out of rows: a resource conforms to it by its type.
  if (profiles.length === 0) return isOneResource(row, run) ? typeTest(row, parts, isForeign, run) : undefined;
  return {
    test: (item, now) =>
      followAll([item], parts, now).some(
        (each) => each.value !== undefined && profiles.some((url) => now.passes(() => now.conforms(each, url))),
      ),
    text: `${path} conforming to ${profiles.join(' or ')}`,
    ...{ isForeign, profiles },
  };
}

/** Whether a row admits just some types of resources, not any resource. */
function isOneResource({ types = [] }: ProfileElementRow, { deps }: ProfileRun): boolean {
  const isOne = (code = ''): boolean => deps.types.kindOf(code) === 'resource' && !ANY_RESOURCE.has(code);
  return types.length > 0 && types.every(({ code }) => isOne(code));
}

const ANY_RESOURCE: ReadonlySet<string> = new Set(['Resource', 'DomainResource']);

function named(path: string, test: SliceTest | undefined): SliceTest | undefined {
  return test === undefined ? undefined : { ...test, text: path === '$this' ? test.text : `${path} ${test.text}` };
}

function existence(
  { min = 0, max }: ProfileElementRow,
  path: string,
  parts: readonly PathPart[],
  isForeign: boolean,
): SliceTest | undefined {
  if (min === 0 && max !== 0) return undefined;
  const isWanted = max !== 0;
  return {
    test: (item, run) => followAll([item], parts, run).length > 0 === isWanted,
    text: `${isWanted ? 'with' : 'without'} ${path}`,
    isForeign,
  };
}

/** The row at the end of a path. */
function rowAt(
  slice: ProfileElementRow,
  parts: readonly PathPart[],
  run: ProfileRun,
): { readonly row: ProfileElementRow; readonly isForeign: boolean } | undefined {
  let at: { readonly row: ProfileElementRow; readonly isForeign: boolean } | undefined = {
    row: slice,
    isForeign: false,
  };
  for (const [i, part] of parts.entries()) {
    // The types of what a reference leads to are those that it may point to.
    if (part.kind === 'resolve' && i === parts.length - 1) return at;
    const next = stepRow(at.row, part, run);
    if (next === undefined) return undefined;
    at = { row: next.row, isForeign: at.isForeign || next.isForeign };
  }
  return at;
}

function typeTest(
  { types = [] }: ProfileElementRow,
  parts: readonly PathPart[],
  isForeign: boolean,
  run: ProfileRun,
): SliceTest | undefined {
  const isTarget = parts.at(-1)?.kind === 'resolve';
  const profiles = isTarget ? types.flatMap(({ targets = [] }) => targets) : [];
  const found = profiles.map((url) => typeOfProfile(url, run));
  const codes = isTarget ? found.filter((each) => typeof each === 'string') : types.flatMap(({ code }) => code ?? []);
  if (codes.length === 0 || found.includes(PENDING)) return undefined;
  const isStored = profiles.some((url) => baseType(url, run) === undefined);
  return {
    test(item, now) {
      const ends = isTarget
        ? followAll([item], parts.slice(0, -1), now).flatMap((each) => followReference(each, now, 'type'))
        : followAll([item], parts, now);
      // The text of a reference names the type.
      if (ends.length > 0) now.hasUnresolved = false;
      return ends.some((end) => codes.some((code) => isType(end.type, code, now.deps.types)));
    },
    text: `type ${codes.join(' or ')}`,
    isForeign: isForeign || isStored,
  };
}

/** Whether something at the end of a path has what the slice says there. */
function contentAt(row: ProfileElementRow, parts: readonly PathPart[], run: ProfileRun): SliceTest | undefined {
  const [part, ...rest] = parts;
  if (part === undefined) return content(row, run);
  const next = stepRow(row, part, run);
  if (next === undefined) return undefined;
  const found = contentOf(next.row, rest, run);
  if (found === undefined) return undefined;
  return {
    test: (item, now) => found.test(follow(item, part, now), now),
    text: found.text,
    isForeign: found.isForeign || next.isForeign,
  };
}

interface ListTest extends Omit<SliceTest, 'test'> {
  readonly test: (items: readonly ElementValue[], run: ProfileRun) => boolean;
}

/** What an element asks of the list of its values: some value has what it says, and for each slice that is required another. */
function contentOf(row: ProfileElementRow, parts: readonly PathPart[], run: ProfileRun): ListTest | undefined {
  const own = contentAt(row, parts, run);
  const sliced = (row.slices ?? []).flatMap((slice) =>
    (slice.min ?? 0) > 0 ? (contentAt(slice, parts, run) ?? []) : [],
  );
  const all = [...(own === undefined ? [] : [own]), ...sliced];
  if (all.length === 0) return undefined;
  return {
    test: (items, now) => all.every(({ test }) => items.some((item) => test(item, now))),
    text: all.map(({ text }) => text).join(' and '),
    isForeign: all.some(({ isForeign }) => isForeign),
  };
}

/** What tells values apart: fixed values, patterns and required value sets, of the element or of what is below it. */
function content(row: ProfileElementRow, run: ProfileRun): SliceTest | undefined {
  const { fixed, pattern, binding } = row;
  if (fixed !== undefined) {
    return { test: ({ value }) => isFixed(value, fixed), text: showJson(fixed), isForeign: false };
  }
  if (pattern !== undefined) {
    return { test: ({ value }) => fitsPattern(value, pattern), text: showJson(pattern), isForeign: false };
  }
  if (binding?.strength === 'required') {
    const { valueSet } = binding;
    const test: SliceTest['test'] = (item, now) => isAnyMember(codesOf(item) ?? [], valueSet, now) === true;
    return { test, text: `in the value set ${valueSet}`, isForeign: false };
  }
  const children = (row.children ?? []).flatMap((child) => {
    const found = contentOf(child, [], run);
    return found === undefined ? [] : [{ ...found, name: child.name }];
  });
  if (children.length === 0) return undefined;
  return {
    test: (item, now) => children.every(({ name, test }) => test(childrenOf(item, name, now.deps.types), now)),
    text: children.map(({ name, text }) => `${name} ${text}`).join(', '),
    isForeign: children.some(({ isForeign }) => isForeign),
  };
}
