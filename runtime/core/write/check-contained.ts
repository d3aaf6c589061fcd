import { FhirError } from '../../fhir/errors.js';
import { MAX_CONTAINED } from '../../store/write-contained.js';

/**
 * Rejects a write of several resources with too many contained resources.
 *
 * @param count number of contained resources that searches can find
 * @throws FhirError `transaction-too-large`
 */
export function checkContained(count: number): void {
  if (count <= MAX_CONTAINED) return;
  const text =
    `The resources contain ${count} others with an id, and those that are written at once may contain ${MAX_CONTAINED} together; ` +
    'write some of them in a further transaction, or in a batch';
  throw new FhirError('transaction-too-large', text);
}
