import { FhirError } from '../../fhir/errors.js';
import type { Call, Reply } from '../../core/call.js';
import { checkParameters } from '../../core/parameters.js';
import { parsedBodyOf } from '../../core/write/parsed-bodies.js';
import type { Services } from '../../core/services.js';
import { checkProvided, levelProvided } from '../../exchange/provided-bundle.js';
import { validateResource } from '../../core/write/validate-resource.js';
import { executeBatch, unreadCall } from './batch.js';
import { faultsAround, faultsOfEntries } from './entry-faults.js';
import { envelopeOf, openBundle, type OpenedBundle } from './envelope.js';
import { executeTransaction } from './transaction.js';

/**
 * `POST [base]`: executes a batch or a transaction. Bundles of other types are not executed, but can be stored.
 * https://hl7.org/fhir/R5/http.html#transaction
 */
export async function executeBundle(call: Call, services: Services): Promise<Reply> {
  checkParameters(call);
  const opened = openBundle(call.body, services.limits.entries);
  if (opened.type === 'transaction') {
    const { bundle } = opened;
    const level = services.exchange.documents ? levelProvided(bundle) : undefined;
    const transaction: Call = level === undefined ? call : { ...call, isProvided: true };
    return await orAudited(opened, transaction, services, async () => {
      // A worker that parsed the Bundle has validated its envelope.
      validateResource(parsedBodyOf(bundle) === undefined ? envelopeOf(opened) : bundle, call, services);
      if (level !== undefined) checkProvided(opened.entries, level);
      return await executeTransaction(opened.entries, transaction, services);
    });
  }
  return executeBatch(opened.entries, checkBatch(opened, call, services), call, services);
}

/** Records each entry of a transaction that is refused as a whole: none of them was done. */
async function orAudited(
  { entries }: OpenedBundle,
  call: Call,
  services: Services,
  execute: () => Promise<Reply>,
): Promise<Reply> {
  try {
    return await execute();
  } catch (error) {
    if (error instanceof FhirError) {
      for (const value of entries) services.audit.failed(unreadCall(value, call, services), error);
    }
    throw error;
  }
}

const NO_FAILURES: ReadonlyMap<number, FhirError> = new Map();

/** The faults of each entry of a batch. @throws FhirError for faults of the Bundle outside its entries */
function checkBatch(opened: OpenedBundle, call: Call, services: Services): ReadonlyMap<number, FhirError> {
  const { validate } = services;
  const faults = parsedBodyOf(opened.bundle)?.faults ?? validate(envelopeOf(opened));
  if (faults.length === 0) return NO_FAILURES;
  validateResource(opened.bundle, call, { validate: () => faultsAround(opened, validate) });
  return faultsOfEntries(opened, validate);
}
