import type { Access } from '../../auth/scopes/access.js';
import type { Reach } from '../../auth/scopes/reach.js';
import { FhirError } from '../../fhir/errors.js';
import { CONTAINED } from '../../indexing/contained.js';
import { searchDefinitions } from '../../indexing/definitions.js';
import type { Condition } from '../../search/query/query.js';
import { usedBy } from '../../search/parse/used-by.js';
import { describeStaleIndex, staleParameters } from '../definitions/index-status.js';
import type { Services } from '../services.js';

/** Access of a token, with the constraints that it has returned so far and the type of each. */
export interface RecordedAccess extends Access {
  readonly constraints: ReadonlyMap<Condition, string>;
}

/** Wraps an access so that it records the constraints that it returns. */
export function recordConstraints(access: Access): RecordedAccess {
  const constraints = new Map<Condition, string>();
  const note = (type: string, reach: Reach): Reach => {
    if (typeof reach !== 'string') constraints.set(reach, type);
    return reach;
  };
  return {
    on: (type, letters) => note(type, access.on(type, letters)),
    onAny: (type, anyOf) => note(type, access.onAny(type, anyOf)),
    isWhole: (type, letters) => access.isWhole(type, letters),
    holds: (custom) => access.holds(custom),
    constraints,
  };
}

/**
 * A search is narrowed by the index alone, so it has to be one that the present definitions made: an old one could show what a
 * constraint excludes.
 *
 * @param contained the type whose resources are looked for within others, if any: those of its entries count as well
 * @throws FhirError `index-not-current`
 */
export async function checkConstraintIndexes(
  constraints: RecordedAccess['constraints'],
  services: Pick<Services, 'indexStatus' | 'tables'>,
  contained?: string,
): Promise<void> {
  if (constraints.size === 0) return;
  const definitions = searchDefinitions(services.tables);
  const used = [...constraints].flatMap(([condition, type]) => [
    ...usedBy(type, condition, definitions),
    ...(type === contained ? [{ type, code: CONTAINED }] : []),
  ]);
  const old = describeStaleIndex(await staleParameters({ used }, services));
  if (old === undefined) return;
  throw new FhirError('index-not-current', `${old}. The scopes of the token go by them`);
}
