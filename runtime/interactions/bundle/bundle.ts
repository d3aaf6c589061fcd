import type { Call, Reply } from '../call.js';
import { checkParameters } from '../parameters.js';
import { preparedOf } from '../prepared.js';
import type { Services } from '../services.js';
import { validateResource } from '../validate-resource.js';
import { executeBatch } from './batch.js';
import { withEntries } from './bundle-services.js';
import { envelopeOf, openBundle } from './envelope.js';
import { executeTransaction } from './transaction.js';

/**
 * `POST [base]`: executes a batch or a transaction. Bundles of other types are not executed, but can be stored.
 * https://hl7.org/fhir/R5/http.html#transaction
 */
export async function executeBundle(call: Call, services: Services): Promise<Reply> {
  checkParameters(call);
  const opened = openBundle(call.body, services.limits.entries);
  const { bundle, type, entries } = opened;
  // What is known of a Bundle that is executed, is known of its envelope.
  validateResource(preparedOf(bundle) === undefined ? envelopeOf(opened) : bundle, call, services);
  const execute = type === 'batch' ? executeBatch : executeTransaction;
  return execute(entries, call, withEntries(services));
}
