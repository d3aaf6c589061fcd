import { FhirError } from '../fhir/errors.js';
import { newId, versionNumber } from '../fhir/id.js';
import type { Call, Reply } from './call.js';
import { isWhollyHiddenByIndex } from './hidden-by-index.js';
import { checkParameters } from './parameters.js';
import { replyVersion } from './reply-version.js';
import type { Services } from './services.js';
import { isSeen } from './sight.js';
import { targetOf } from './target.js';
import { viewParameters } from './view.js';

/** `GET [base]/[type]/[id]/_history/[vid]`: one version. https://hl7.org/fhir/R5/http.html#vread */
export async function vread(call: Call, services: Services): Promise<Reply> {
  checkParameters(call, viewParameters(services));
  const { type, id } = targetOf(call);
  const version = versionNumber(call.versionId ?? '');
  const isHidden = await isWhollyHiddenByIndex({ type, id }, 'r', call, services);
  const looked = isHidden ? newId() : id;
  const stored = version === undefined ? undefined : await services.store.readVersion(type, looked, version);
  if (stored === undefined || !(await isSeen(stored, 'r', call, services)))
    throw new FhirError('not-found', `There is no version ${call.versionId} of ${type}/${id}`);
  return replyVersion(call, stored, services);
}
