import { isDeepStrictEqual } from 'node:util';

import type { ProfileElementRow } from '../../../contract/profiles.js';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Of a slice they are about the slice alone, whatever they are of the whole element. */
const CARDINALITY: ReadonlySet<string> = new Set(['min', 'max']);
const KEPT: ReadonlySet<string> = new Set(['name', 'choice', 'slice', 'children', 'slicing', 'slices']);

/**
 * A slice without what holds for each value of its element anyway: a snapshot repeats all of it, and everything would be checked
 * and reported twice.
 */
export function withoutSame(slice: ProfileElementRow, element: ProfileElementRow): ProfileElementRow {
  return reduce(slice, element, true);
}

function reduce(row: ProfileElementRow, other: ProfileElementRow, isSlice: boolean): ProfileElementRow {
  const kept: Mutable<Partial<ProfileElementRow>> & { name: string } = { ...row };
  const members = Object.keys(row) as (keyof ProfileElementRow)[];
  for (const key of members) {
    if (KEPT.has(key) || (isSlice && CARDINALITY.has(key))) continue;
    if (isDeepStrictEqual(row[key], other[key])) delete kept[key];
  }
  if (kept.rules !== undefined && other.rules !== undefined) {
    const known = other.rules;
    kept.rules = kept.rules.filter((rule) => !known.some((each) => isDeepStrictEqual(each, rule)));
    if (kept.rules.length === 0) delete kept.rules;
  }
  const children = row.children?.flatMap((child) => {
    const same = other.children?.find(({ name }) => name === child.name);
    if (same === undefined) return [child];
    const left = reduceChild(child, same);
    return left === undefined ? [] : [left];
  });
  if (children !== undefined) {
    delete kept.children;
    if (children.length > 0) kept.children = children;
  }
  return kept;
}

/** Undefined: nothing is left of it. Slices stay whole, for they belong together. */
function reduceChild(child: ProfileElementRow, same: ProfileElementRow): ProfileElementRow | undefined {
  if (isDeepStrictEqual(child, same)) return undefined;
  const left = reduce(child, same, false);
  return Object.keys(left).every((key) => key === 'name' || key === 'choice') ? undefined : left;
}
