import type { AliasDefinition } from '../load/definitions.js';
import type { AliasModel, SearchTableModel } from './model.js';
import { byCodePoint } from './names.js';

/** Other names of the parameters of a type; those that the parameters have themselves are left out. */
export function aliasesOf(type: string, definitions: readonly AliasDefinition[]): AliasModel[] {
  return definitions
    .flatMap(({ type: of, name, code, reason }) => (of === type && code !== undefined ? [{ name, code, reason }] : []))
    .sort((a, b) => byCodePoint(a.name, b.name));
}

/**
 * Faults of aliases, one line each: unknown types and parameters, names that a parameter has already, and aliases without
 * `code` whose name no parameter has.
 */
export function aliasFaults(definitions: readonly AliasDefinition[], tables: readonly SearchTableModel[]): string[] {
  const byType = new Map(tables.map((table) => [table.type, table]));
  const seen = new Set<string>();
  return definitions.flatMap(({ type, name, code }) => {
    const place = `${type}?${name}`;
    if (seen.size === seen.add(place).size) return [`${place}: is there twice`];
    if (!byType.has(type)) return [`${place}: there is no resource type ${type} that is searched`];
    const codes = codesOf(type, byType);
    if (code === undefined)
      return codes.has(name) ? [] : [`${place}: ${type} has no parameter of this name; say by "code" which is meant`];
    return [
      ...(codes.has(name) ? [`${place}: ${type} has a parameter of this name, which keeps its meaning`] : []),
      ...(codes.has(code) ? [] : [`${place}: ${type} has no parameter ${code}`]),
    ];
  });
}

/** Codes of the parameters of a type with those it inherits. */
function codesOf(type: string, byType: ReadonlyMap<string, SearchTableModel>): Set<string> {
  const codes = new Set<string>();
  for (let next = byType.get(type); next !== undefined; next = byType.get(next.base ?? '')) {
    next.parameters.forEach(({ code }) => codes.add(code));
  }
  return codes;
}
