import { authorize } from '../core/access/authorize.js';
import type { Reply } from '../core/call.js';
import { findInteraction } from './registry.js';
import type { InteractionHandler } from '../core/services.js';

/**
 * Does what a call asks for, where its principal may: the one way for requests and for entries of Bundles.
 *
 * @throws FhirError `scope-missing`, and as the interaction
 */
export const execute: InteractionHandler = async (call, services): Promise<Reply> => {
  authorize(call, call.principal.access, services);
  if (call.operation === undefined) return findInteraction(call.interaction, call.type)(call, services);
  const operation = services.operations.get(call.operation);
  if (operation === undefined) throw new Error(`no handler for the operation ${call.operation}`);
  return operation(call, services);
};
