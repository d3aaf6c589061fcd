import { successOutcome } from '../fhir/operation-outcome.js';
import type { Call, Reply } from './call.js';
import { checkParameters } from './parameters.js';
import { checkWrite, liveVersion } from './preconditions.js';
import type { Services } from './services.js';
import { targetOf } from './target.js';
import { writeCurrent } from './write-current.js';

/**
 * `DELETE [base]/[type]/[id]`: a logical deletion, past versions stay. What is gone already, or never was, is no
 * failure; the outcome says which. https://hl7.org/fhir/R5/http.html#delete
 */
export async function deleteInstance(call: Call, { store }: Services): Promise<Reply> {
  checkParameters(call);
  const { type, id } = targetOf(call);
  const { before, after } = await writeCurrent(store, type, id, (current) => {
    checkWrite(call.conditions, current);
    const live = liveVersion(current);
    return live === undefined ? undefined : { type, id, expected: live.version };
  });
  if (after === undefined) {
    const text = before === undefined ? `There never was a ${type}/${id}` : `${type}/${id} was deleted already`;
    return { status: 200, resource: successOutcome(text) };
  }
  return {
    status: 200,
    versionId: String(after.version),
    lastUpdated: after.lastUpdated,
    resource: successOutcome(`${type}/${id} is deleted`),
  };
}
