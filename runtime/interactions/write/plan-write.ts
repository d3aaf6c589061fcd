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
import type { WritePlan, WritePlanner } from '../../core/write/write-plan.js';

type Planners = ReadonlyMap<Interaction, WritePlanner>;

/** Planners of the interactions that write one thing; what the server adds to a publication is its own act. */
export const PLANNERS: Planners = new Map([
  ['create', withPublish(withWriteAccess(planCreate))],
  ...guardAll([
    ['update', planUpdate],
    ['conditional-update', planConditionalUpdate],
    ['patch', planPatch],
    ['conditional-patch', planConditionalPatch],
    ['delete', planDelete],
    ['conditional-delete', planConditionalDelete],
  ]),
]);

/** Those of the type whose content is bytes. */
export const BINARY_PLANNERS: Planners = guardAll([
  ['create', planCreateBinary],
  ['update', planUpdateBinary],
  ['conditional-update', planConditionalUpdateBinary],
  ['patch', planPatchBinary],
  ['conditional-patch', planConditionalPatchBinary],
]);

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
