import { FhirError } from '../../fhir/errors.js';
import { MOST_MEMBERS } from '../../store/write-contained.js';

/**
 * Refuses to write several resources at once that contain too many others.
 *
 * @param count how many they contain that can be found
 * @throws FhirError `transaction-too-large`
 */
export function checkMembers(count: number): void {
  if (count <= MOST_MEMBERS) return;
  const text =
    `The resources contain ${count} others with an id, and those that are written at once may contain ${MOST_MEMBERS} together; ` +
    'write some of them in a further transaction, or in a batch';
  throw new FhirError('transaction-too-large', text);
}
