import { withTimeout } from '../../../fhir/with-timeout.js';
import { storeBusy, translateMongoError } from '../mongo-errors.js';

/**
 * Waits for the result of work that can be repeated without harm, for some milliseconds, however long the driver waits.
 * Its failure is translated for clients.
 *
 * @throws FhirError `store-busy`, `store-unavailable`
 */
export async function answered<T>(time: number, work: Promise<T>): Promise<T> {
  try {
    return await withTimeout(time, work, storeBusy);
  } catch (error) {
    throw translateMongoError(error);
  }
}
