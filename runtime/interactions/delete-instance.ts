import { successOutcome } from '../fhir/operation-outcome.js';
import type { Call, Reply } from './call.js';
import { checkParameters } from './parameters.js';
import { checkWrite, liveVersion } from './preconditions.js';
import type { Services } from './services.js';
import { targetOf } from './target.js';
import { writeCurrent } from './write-current.js';

/**
 * `DELETE [base]/[type]/[id]`: a logical deletion, past versions stay. What is gone already, or never was, is no
 * failure; the outcome says which, unless `Prefer: return=minimal` wants none. https://hl7.org/fhir/R5/http.html#delete
 */
export async function deleteInstance(call: Call, { store }: Services): Promise<Reply> {
  checkParameters(call);
  const { type, id } = targetOf(call);
  const { before, after } = await writeCurrent(store, type, id, (current) => {
    checkWrite(call.conditions, current);
    const live = liveVersion(current);
    return live === undefined ? undefined : { type, id, expected: live.version };
  });
  const isMinimal = call.prefer.return === 'minimal';
  if (after === undefined) {
    if (isMinimal) return { status: 204 };
    const text = before === undefined ? `There never was a ${type}/${id}` : `${type}/${id} was deleted already`;
    return { status: 200, resource: successOutcome(text) };
  }
  const head = { versionId: String(after.version), lastUpdated: after.lastUpdated };
  if (isMinimal) return { ...head, status: 204 };
  return { ...head, status: 200, resource: successOutcome(`${type}/${id} is deleted`) };
}
