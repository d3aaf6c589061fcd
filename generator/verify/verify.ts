import { GeneratorError } from '../generator-error.js';
import { scopeCoverageFaults } from '../load/definitions-scopes.js';
import type { PackagePin } from '../load/definitions.js';
import type { Model } from '../model/model.js';
import type { Census } from './census.js';
import { checks } from './checks.js';

/**
 * Refuses a package whose counts are not those that its pin expects.
 *
 * @throws GeneratorError naming each count that drifted
 */
export function verifyCensus(census: Census, pin: PackagePin): void {
  const faults = [...new Set([...Object.keys(census), ...Object.keys(pin.expect)])]
    .filter((name) => census[name] !== pin.expect[name])
    .map((name) => `${name}: expected ${String(pin.expect[name])}, counted ${String(census[name])}`);
  if (faults.length > 0) {
    throw new GeneratorError(`${pin.name}@${pin.version} is not what definitions/packages.json expects`, faults);
  }
}

/**
 * Refuses a policy that leaves an operation of the pinned package out, or names one that is not there. Other packages
 * may have operations that the policy does not know: they get no row, and so are refused to everyone.
 *
 * @throws GeneratorError naming each
 */
export function verifyScopes(model: Model): void {
  const faults = scopeCoverageFaults(model.scopes, model.operations);
  if (faults.length > 0) throw new GeneratorError('definitions/policy/scopes.json does not fit the operations', faults);
}

/**
 * Refuses a model with a name in it that leads nowhere.
 *
 * @throws GeneratorError naming each fault
 */
export function verifyModel(model: Model): void {
  const faults = checks.flatMap((check) => check(model));
  if (faults.length > 0) throw new GeneratorError('the definitions do not hold together', faults);
}
