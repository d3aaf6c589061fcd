import type { PackageRow } from './journal.js';
import { nameOf } from './resolve.js';

type Row = Pick<PackageRow, 'name' | 'version' | 'isDirect' | 'dependencies'>;

/**
 * Finds the dependencies of packages that nothing needs once these are removed: no operator named them, and no package that stays leads to
 * them. Circles are no reason to stay.
 *
 * @param named the packages to be removed
 * @param rows all that are installed
 * @returns the names of all that are to be removed, `named` first, and the dependencies that stay
 */
export function withOrphans<T extends Row>(
  named: readonly string[],
  rows: readonly T[],
): { readonly names: readonly string[]; readonly staying: readonly { readonly row: T; readonly why: string }[] } {
  const byName = new Map(rows.map((row) => [row.name, row]));
  const reach = (from: readonly string[], without: ReadonlySet<string>): ReadonlySet<string> => {
    const reached = new Set(from);
    // A set is iterated over what is added meanwhile, too.
    for (const name of reached)
      for (const each of Object.keys(byName.get(name)?.dependencies ?? {})) if (!without.has(each)) reached.add(each);
    return reached;
  };
  const removed = new Set(named);
  const below = [...reach(named, new Set())].filter((name) => !removed.has(name) && byName.has(name));
  // What was left behind by an earlier removal counts as needed: it is nothing of these.
  const roots = rows.filter(({ name, isDirect }) => !removed.has(name) && (isDirect || !below.includes(name)));
  const needed = reach(roots.map(({ name }) => name), removed); // prettier-ignore
  const orphans = below.filter((name) => !needed.has(name));
  const gone = new Set([...named, ...orphans]);
  const staying = below
    .filter((name) => needed.has(name))
    .map((name) => {
      const row = byName.get(name)!;
      const by = rows.filter((each) => !gone.has(each.name) && each.dependencies[name] !== undefined);
      const why = row.isDirect ? 'it was added by itself' : `it is needed by ${by.map(nameOf).join(', ')}`;
      return { row, why };
    });
  return { names: [...gone], staying };
}
