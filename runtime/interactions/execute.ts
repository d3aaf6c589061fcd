import { OPEN_ACCESS } from '../auth/scopes/principal.js';
import { FhirError } from '../fhir/errors.js';
import { authorize } from '../search-execution/authorize/authorize.js';
import type { Call, Reply } from '../core/call.js';
import { span } from '../observe/trace/spans.js';
import { callToWrite } from '../core/write/before-write.js';
import { findInteraction, isWrite } from './registry.js';
import type { InteractionHandler, Services } from '../core/services.js';

/**
 * Does what a call asks for, where its principal may: the one way for requests and for entries of Bundles.
 *
 * @throws FhirError `scope-missing`, and as the interaction
 */
export const execute: InteractionHandler = async (call, services): Promise<Reply> => {
  if (call.principal.access === OPEN_ACCESS) checkAllowed(call, services);
  else span('authorize', call, () => checkAllowed(call, services));
  if (call.operation === undefined) {
    const written = services.beforeWrite === undefined ? call : await callToWrite(call, services);
    return findInteraction(call.interaction, call.type)(written, services);
  }
  const operation = services.operations.get(call.operation);
  if (operation === undefined) throw new Error(`no handler for the operation ${call.operation}`);
  return operation(call, services);
};

/**
 * Refuses what the token of a call does not give, or the configuration.
 *
 * @throws FhirError `scope-missing`, `method-not-allowed`, `read-only`
 */
export function checkAllowed(call: Call, services: Services): void {
  authorize(call, call.principal.access, services);
  const { operation: id, interaction } = call;
  if (id === undefined ? !services.wired.has(interaction) : !services.operations.has(id))
    throw switchedOff(id ?? interaction, services);
}

/** What the configuration does not allow; the scopes of the token are checked before. */
function switchedOff(name: string, { isReadOnly, tables, switches }: Services): FhirError {
  if (isReadOnly && isWrite(name, tables)) throw new FhirError('read-only', undefined, { headers: { Allow: '' } });
  const text = `${name} is switched off here; the setting ${switches.get(name) ?? 'of it'} allows it`;
  return new FhirError('method-not-allowed', text, { headers: { Allow: '' } });
}
