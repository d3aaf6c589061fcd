import type { Call, Reply } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { readMergedPair } from './merge-arguments.js';
import { undo } from './undo-replace-references.js';

/**
 * `undo-merge`: restores both resources of the last merge of these two, and what referred to the source; all of it
 * or nothing. definitions/operations/undo-merge.json
 *
 * @throws FhirError `parameter-invalid`, `scope-missing`, `not-found`, `version-conflict`, `deleted`, `index-not-current`
 */
export async function undoMerge(call: Call, services: Services): Promise<Reply> {
  const pair = readMergedPair(call, services);
  if (pair.source.id === pair.target.id) {
    throw new FhirError('parameter-invalid', '"source-patient" and "target-patient" name the same resource');
  }
  return undo('merge', pair, call, services);
}
