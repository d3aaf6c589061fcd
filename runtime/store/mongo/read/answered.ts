import { withTimeout } from '../../../fhir/with-timeout.js';
import { storeBusy, translateMongoError } from '../mongo-errors.js';

/**
 * What the work gives, which can be done again without harm, in so many milliseconds, whatever the driver still waits for; its
 * failure put into words for clients.
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
