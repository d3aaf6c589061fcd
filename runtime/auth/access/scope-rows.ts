import type { Interaction, Level, RouteRow, ScopeRow, ScopeTable } from '../../contract/rest.js';

/** Target of a route: the interaction or operation by which its scope row is found. */
export interface ScopeTarget {
  readonly interaction: Interaction;
  /** Of an operation: `OperationRow.id`, and where it is called. */
  readonly operation?: string;
  readonly level?: Level;
}

/** A `ScopeTarget` whose optional members may be present without a value. */
export interface ScopeAim {
  readonly interaction: Interaction;
  readonly operation?: string | undefined;
  readonly level?: Level | undefined;
}

/** Finds what an interaction or an operation requires of a token. */
export type ScopeRows = (aim: ScopeAim) => ScopeRow;

/**
 * Makes the look-up of scope rows. What has no row is never served: the look-up throws, which is a defect of the tables
 * and not of a request.
 */
export function indexScopeRows({ rows }: Pick<ScopeTable, 'rows'>): ScopeRows {
  const index = new Map<string, ScopeRow>();
  for (const row of rows) for (const key of keysOf(row)) index.set(key, row);
  return ({ interaction, operation, level }) => {
    const key = operation === undefined ? interaction : `$${operation}`;
    const row = index.get(key) ?? (level === undefined ? undefined : index.get(`${key} ${level}`));
    if (row === undefined) throw new Error(`no scope row for ${[key, level].filter(Boolean).join(' ')}`);
    return row;
  };
}

function keysOf({ interaction, operation, levels }: ScopeRow): readonly string[] {
  if (operation === undefined) return [interaction];
  return levels === undefined ? [`$${operation}`] : levels.map((level) => `$${operation} ${level}`);
}

/** Returns the scope target of a route of the generated table. The level of an operation follows from its path. */
export function scopeTargetOf({ interaction, operation, path }: RouteRow): ScopeTarget {
  return operation === undefined ? { interaction } : { interaction, operation, level: levelOf(path) };
}

function levelOf(path: string): Level {
  const before = path.slice(0, Math.max(0, path.indexOf('$')));
  if (before === '') return 'system';
  if (before.includes('[vid]')) return 'version';
  return before.includes('[id]') ? 'instance' : 'type';
}
