import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import type { Call, Reply } from '../call.js';
import { checkResource } from '../check-resource.js';
import { checkParameters } from '../parameters.js';
import type { Services } from '../services.js';
import { validateResource } from '../validate-resource.js';
import { executeBatch } from './batch.js';
import { withEntries } from './bundle-services.js';
import { executeTransaction } from './transaction.js';

/**
 * `POST [base]`: executes a batch or a transaction. Bundles of other types are not executed, but can be stored.
 * https://hl7.org/fhir/R5/http.html#transaction
 */
export async function executeBundle(call: Call, services: Services): Promise<Reply> {
  checkParameters(call);
  const bundle = checkResource(call.body, 'Bundle');
  const { type } = bundle;
  if (type !== 'batch' && type !== 'transaction') throw notExecuted(type);
  const entries = entriesOf(bundle, services.limits.entries);
  checkEnvelope(bundle, entries, call, services);
  const execute = type === 'batch' ? executeBatch : executeTransaction;
  return execute(entries, call, withEntries(services));
}

function notExecuted(type: JsonValue | undefined): FhirError {
  const what = typeof type === 'string' ? `of type ${JSON.stringify(type.slice(0, 64))} is` : 'without a type is';
  const text = `A Bundle ${what} not executed: batch and transaction are. POST to [base]/Bundle stores a Bundle as it is`;
  return new FhirError('bundle-type', text, { expression: 'Bundle.type' });
}

function entriesOf(bundle: Resource, most: number): readonly JsonValue[] {
  const list = bundle['entry'];
  const entries = Array.isArray(list) ? list : [];
  if (entries.length > most) {
    const text = `The Bundle has ${entries.length} entries; there may be ${most}. Send them in several Bundles`;
    throw new FhirError('too-many-entries', text, { expression: 'Bundle.entry' });
  }
  return entries;
}

/** Validates the Bundle but for the resources in it: each is validated as what its entry does with it. */
function checkEnvelope(bundle: Resource, entries: readonly JsonValue[], call: Call, services: Services): void {
  if (!Array.isArray(bundle['entry'])) return validateResource(bundle, call, services);
  const bare = entries.map((entry) => (isObject(entry) ? withoutResource(entry) : entry));
  // An entry of nothing but a resource is told apart from one that is empty when it is read.
  const held = bare.map((entry) =>
    isObject(entry) && Object.keys(entry).length === 0 ? { fullUrl: 'urn:none' } : entry,
  );
  validateResource({ ...bundle, entry: held }, call, services);
}

function withoutResource({ resource: _resource, ...rest }: JsonObject): JsonObject {
  return rest;
}
