import type { ProfileElementRow } from '../../../contract/profiles.js';
import { PENDING } from '../answers.js';
import type { PathPart } from './discriminator-path.js';
import { partOf } from '../find-part.js';
import type { ProfileRun } from '../profile-run.js';
import { unversioned } from '../definition/structure-definition.js';

/** Row that a slice has for the end of a path: its own, or that of a profile that its values conform to. */
export interface FoundRow {
  readonly row: ProfileElementRow;
  /** Whether another profile was asked: what it says now it may not say later. */
  readonly isForeign: boolean;
}

/** The row that a part of a path leads to. Undefined: the slice says nothing there. */
export function stepRow(row: ProfileElementRow, part: PathPart, run: ProfileRun): FoundRow | undefined {
  switch (part.kind) {
    case 'ofType':
      return {
        row: row.slices?.find(({ types }) => types?.some(({ code }) => code === part.type)) ?? row,
        isForeign: false,
      };
    case 'resolve':
      return foreignRow(targetsOf(row), run);
    case 'extension': {
      const extension = row.children?.find(({ name }) => name === 'extension');
      const slice = extension?.slices?.find((each) => urlOf(each) === part.url);
      return slice === undefined ? undefined : { row: slice, isForeign: false };
    }
    case 'child': {
      if (part.name === 'url' && isExtension(row)) {
        const url = urlOf(row);
        if (url !== undefined) return { row: { name: 'url', fixed: url }, isForeign: false };
      }
      const own = row.children?.find(({ name }) => name === part.name);
      if (own !== undefined) return { row: own, isForeign: false };
      const foreign = foreignRow(profilesOf(row), run);
      const child = foreign?.row.children?.find(({ name }) => name === part.name);
      return child === undefined ? undefined : { row: child, isForeign: true };
    }
  }
}

function isExtension({ name }: ProfileElementRow): boolean {
  return name === 'extension' || name === 'modifierExtension';
}

/** The url that a slice of extensions is for: that of its definition, or one that is fixed. */
function urlOf(row: ProfileElementRow): string | undefined {
  const [profile] = profilesOf(row);
  if (profile !== undefined) return unversioned(profile);
  const fixed = row.children?.find(({ name }) => name === 'url')?.fixed;
  return typeof fixed === 'string' ? fixed : undefined;
}

function profilesOf({ types = [] }: ProfileElementRow): readonly string[] {
  return types.flatMap(({ profiles = [] }) => profiles);
}

function targetsOf({ types = [] }: ProfileElementRow): readonly string[] {
  return types.flatMap(({ targets = [] }) => targets);
}

/** What the one profile says; several say nothing together. */
function foreignRow(profiles: readonly string[], run: ProfileRun): FoundRow | undefined {
  const [canonical, another] = profiles;
  if (canonical === undefined || another !== undefined) return undefined;
  const [url = '', id] = canonical.split('#');
  const found = run.find(url);
  if (found === PENDING || found === undefined) return undefined;
  const row = id === undefined ? found.root : partOf(found, id);
  return row === undefined ? undefined : { row, isForeign: true };
}
