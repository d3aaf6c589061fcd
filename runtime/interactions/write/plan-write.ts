import type { Interaction } from '../../contract/index.js';
import { BINARY } from '../../core/binary/binary-content.js';
import { planConditionalPatchBinary, planPatchBinary } from '../binary/binary-patch.js';
import { planConditionalUpdateBinary, planCreateBinary, planUpdateBinary } from '../binary/binary-write.js';
import type { Call } from '../../core/call.js';
import { planCreate } from './create.js';
import { planConditionalDelete, planDelete } from './delete.js';
import { withWriteAccess } from '../../core/access/check-write.js';
import { planConditionalPatch, planPatch } from './patch.js';
import { withPublish } from '../../exchange/publish.js';
import type { Services } from '../../core/services.js';
import { planConditionalUpdate, planUpdate } from './update.js';
import { withProvenance } from './with-provenance.js';
import type { WritePlan, WritePlanner } from '../../core/write/write-plan.js';

type Planners = ReadonlyMap<Interaction, WritePlanner>;

const guardedCreate = withWriteAccess(planCreate);

/** Planners of the interactions that write one thing; what the server adds to a publication is its own act. */
export const PLANNERS: Planners = new Map([
  ['create', withProvenance(withPublish(guardedCreate), guardedCreate)],
  ...telling([
    ['update', planUpdate],
    ['conditional-update', planConditionalUpdate],
    ['patch', planPatch],
    ['conditional-patch', planConditionalPatch],
  ]),
  ...guardAll([
    ['delete', planDelete],
    ['conditional-delete', planConditionalDelete],
  ]),
]);

/** Planners of the interactions that write Binary, whose content is bytes. */
export const BINARY_PLANNERS: Planners = telling([
  ['create', planCreateBinary],
  ['update', planUpdateBinary],
  ['conditional-update', planConditionalUpdateBinary],
  ['patch', planPatchBinary],
  ['conditional-patch', planConditionalPatchBinary],
]);

/** The same, and the Provenance that a client sends beside is stored with what is written. */
function telling(planners: readonly (readonly [Interaction, WritePlanner])[]): Planners {
  return new Map(
    [...guardAll(planners)].map(([interaction, planner]) => [interaction, withProvenance(planner, guardedCreate)]),
  );
}

/** Every plan is made with the access check around it. */
function guardAll(planners: readonly (readonly [Interaction, WritePlanner])[]): Planners {
  return new Map(planners.map(([interaction, planner]) => [interaction, withWriteAccess(planner)]));
}

/**
 * The plan of a call that writes; undefined: it does not write.
 *
 * @throws FhirError for what is wrong with the call by itself
 */
export function planWrite(call: Call, services: Services): Promise<WritePlan> | undefined {
  const { interaction, type } = call;
  const own = type === BINARY ? BINARY_PLANNERS.get(interaction) : undefined;
  return (own ?? PLANNERS.get(interaction))?.(call, services);
}
