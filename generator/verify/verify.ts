import { GeneratorError } from '../generator-error.js';
import { scopeCoverageFaults } from '../load/definitions-scopes.js';
import type { PackagePin } from '../load/definitions.js';
import type { Model } from '../model/model.js';
import type { Census } from './census.js';
import { checks } from './checks.js';

/**
 * Rejects a package whose counts differ from the expected ones.
 *
 * @throws GeneratorError naming each count that differs
 */
export function verifyCensus(census: Census, pin: PackagePin): void {
  const faults = changedCounts(pin.expect, census).map(
    ({ name, from, to }) => `${name}: expected ${String(from)}, counted ${String(to)}`,
  );
  if (faults.length === 0) return;
  const text = `${pin.name}@${pin.version} is not what definitions/packages.json expects`;
  throw new GeneratorError(`${text}; npx kiln generate --accept takes what was counted`, faults);
}

/** A count that differs; undefined: there is none of this name. */
export interface ChangedCount {
  readonly name: string;
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** Describes a count that differs. */
export function countLine({ name, from, to }: ChangedCount): string {
  return `${name}: ${String(from ?? 'none')} -> ${String(to ?? 'none')}`;
}

/** Returns the counts that differ. */
export function changedCounts(from: Census, to: Census): readonly ChangedCount[] {
  return [...new Set([...Object.keys(to), ...Object.keys(from)])]
    .filter((name) => from[name] !== to[name])
    .map((name) => ({ name, from: from[name], to: to[name] }));
}

/**
 * Rejects a policy that lacks an operation of the pinned package, or names an unknown one. Other packages may have
 * operations that are not in the policy: they get no row, and so every client is denied access to them.
 *
 * @throws GeneratorError naming each such operation
 */
export function verifyScopes(model: Model): void {
  const faults = scopeCoverageFaults(model.scopes, model.operations);
  if (faults.length > 0) throw new GeneratorError('definitions/policy/scopes.json does not fit the operations', faults);
}

/**
 * Rejects exchanges of operations that the pinned package does not have. Other packages may lack some.
 *
 * @throws GeneratorError naming each such operation
 */
export function verifyExchanges(model: Model): void {
  const ids = new Set(model.operations.map(({ id }) => id));
  const unknown = model.exchanges.rows.flatMap(({ operations = [] }) => operations.filter((id) => !ids.has(id)));
  const faults = unknown.map((id) => `there is no operation ${id}`);
  if (faults.length > 0) throw new GeneratorError('definitions/exchanges.json does not fit the operations', faults);
}

/**
 * Rejects a model with an unresolved name.
 *
 * @throws GeneratorError naming each fault
 */
export function verifyModel(model: Model): void {
  const faults = checks.flatMap((check) => check(model));
  if (faults.length > 0) throw new GeneratorError('the definitions do not hold together', faults);
}
