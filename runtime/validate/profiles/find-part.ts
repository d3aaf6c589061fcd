import type { ProfileElementRow, ProfileRow } from '../../contract/profiles.js';

/** The row of an element that an id or path names: `Composition.section:plan`. */
export function partOf({ root }: ProfileRow, id: string): ProfileElementRow | undefined {
  let at: ProfileElementRow | undefined = root;
  for (const step of id.split('.').slice(1)) {
    const [name = '', slice] = step.replace('[x]', '').split(':');
    at = at?.children?.find((child) => child.name === name);
    if (slice !== undefined) at = sliceOf(at, slice);
  }
  return at;
}

function sliceOf(row: ProfileElementRow | undefined, name: string): ProfileElementRow | undefined {
  for (const slice of row?.slices ?? []) {
    const found = slice.slice === name ? slice : sliceOf(slice, name);
    if (found !== undefined) return found;
  }
  return undefined;
}
