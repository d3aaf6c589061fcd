import type { Resource } from '../fhir/resource.js';
import type { Call, Preferences } from './call.js';

/** Returns the creation of a resource within another call, with the rights of its client, as a request of its own would ask for it. */
export function createCallOf(
  { principal, base, trace, signal, ledger }: Call,
  body: Resource,
  prefer: Preferences,
): Call {
  return {
    ...{ interaction: 'create', type: body.resourceType, body, principal, base, prefer },
    ...{ params: new URLSearchParams(), conditions: {} },
    ...(trace !== undefined && { trace }),
    ...(signal !== undefined && { signal }),
    ...(ledger !== undefined && { ledger }),
  };
}
