import type {
  CustomScopeRow,
  Interaction,
  Level,
  OwnChainsRow,
  ScopeNeed,
  ScopeRow,
  ScopeTable,
  WithheldLettersRow,
} from '../../runtime/contract/index.js';

interface Noted {
  /** Why, for people. */
  readonly note?: string;
}

/** A row with its reason. */
export interface ScopePolicyRow extends ScopeRow, Noted {}

/** The scope policy with its reasons, expanded from `definitions/policy/scopes.json` by {@link expandScopes}. */
export interface ScopePolicy extends ScopeTable {
  readonly rows: readonly ScopePolicyRow[];
  readonly custom: readonly (CustomScopeRow & Noted)[];
  readonly withheld: readonly (WithheldLettersRow & Noted)[];
  readonly ownChains: readonly (OwnChainsRow & Noted)[];
}

type NeedOrSet = ScopeNeed | { readonly use: string };

/** `definitions/policy/scopes.json`: rows for several interactions or operations at once, and named sets of needs. */
export interface ScopePolicyFile extends Omit<ScopePolicy, 'rows'> {
  readonly sets: Readonly<Record<string, readonly NeedOrSet[]>>;
  readonly rows: readonly (Omit<ScopePolicyRow, 'interaction' | 'operation' | 'needs'> & {
    readonly interactions?: readonly Interaction[];
    readonly operations?: readonly string[];
    readonly needs?: readonly NeedOrSet[];
  })[];
}

/**
 * Expands the rows to one for each interaction and operation, with the needs of the sets that they use.
 *
 * @param faults receives a line for each undefined set or custom scope, each set that uses itself, and each duplicate row
 *   for an interaction; each line begins with a JSON pointer
 */
export function expandScopes(file: ScopePolicyFile, faults: string[]): ScopePolicy {
  const custom = new Set(file.custom.map(({ scope }) => scope));
  const expand = (needs: readonly NeedOrSet[], at: string, within: readonly string[]): readonly ScopeNeed[] =>
    needs.flatMap((need, index): readonly ScopeNeed[] => {
      if (!('use' in need)) return [need];
      const set = file.sets[need.use];
      const place = `${at}/${index}/use`;
      if (set === undefined) {
        faults.push(`${place}: names no set; expected one of ${Object.keys(file.sets).join(', ')}`);
      } else if (within.includes(need.use)) {
        faults.push(`${place}: the set ${need.use} uses itself`);
      } else {
        return expand(set, `/sets/${need.use}`, [...within, need.use]);
      }
      return [];
    });
  file.custom.forEach(({ covers = [] }, index) => {
    for (const scope of covers) {
      if (!custom.has(scope)) faults.push(`/custom/${index}/covers: ${scope} is not among the custom scopes`);
    }
  });
  const seen = new Set<string>();
  const rows = file.rows.flatMap(({ interactions, operations, needs = [], ...rest }, index) => {
    const at = `/rows/${index}`;
    if (rest.admin !== undefined && !custom.has(rest.admin)) {
      faults.push(`${at}/admin: is "${rest.admin}"; expected one of ${[...custom].join(', ')}`);
    }
    for (const name of interactions ?? []) {
      if (seen.has(name)) faults.push(`${at}/interactions: ${name} has a row already`);
      seen.add(name);
    }
    const common = { ...rest, needs: distinct(expand(needs, `${at}/needs`, [])) };
    return [
      ...(interactions ?? []).map((interaction): ScopePolicyRow => ({ interaction, ...common })),
      ...(operations ?? []).map((operation): ScopePolicyRow => ({ interaction: 'operation', operation, ...common })),
    ];
  });
  return { custom: file.custom, withheld: file.withheld, ownChains: file.ownChains, rows };
}

/** Removes duplicate needs, which overlapping sets can bring. */
function distinct(needs: readonly ScopeNeed[]): readonly ScopeNeed[] {
  return [...new Map(needs.map((need) => [JSON.stringify(need), need])).values()];
}

/**
 * Compares the policy with the defined operations.
 *
 * @param operations those of the package and the custom ones, by id, with their levels
 * @returns one line for each level of an operation with no row or several rows, and for each row of an unknown operation
 *   or level
 */
export function scopeCoverageFaults(
  policy: ScopeTable,
  operations: readonly { readonly id: string; readonly levels: readonly Level[] }[],
): string[] {
  const faults: string[] = [];
  const levels = new Map(operations.map(({ id, levels }) => [id, levels]));
  const rows = policy.rows.filter(({ operation }) => operation !== undefined);
  for (const row of rows) {
    const existing = levels.get(row.operation ?? '');
    if (existing === undefined) faults.push(`${row.operation}: has a row, but there is no such operation`);
    else if (row.levels !== undefined && !row.levels.some((level) => existing.includes(level))) {
      faults.push(`${row.operation}: has a row for ${row.levels.join(', ')}, but exists on ${existing.join(', ')}`);
    }
  }
  for (const [id, existing] of levels) {
    for (const level of existing) {
      const count = rows.filter((row) => row.operation === id && (row.levels?.includes(level) ?? true)).length;
      if (count !== 1) faults.push(`${id}: has ${count === 0 ? 'no row' : `${count} rows`} for level ${level}`);
    }
  }
  return faults;
}
