import { FhirError } from '../fhir/errors.js';
import { newId } from '../fhir/id.js';
import type { Resource } from '../fhir/resource.js';
import type { Call, Reply } from './call.js';
import { checkResource } from './check-resource.js';
import { composePut } from './compose-change.js';
import { checkParameters } from './parameters.js';
import { replyWritten } from './reply-written.js';
import type { Services } from './services.js';
import { typeOf } from './target.js';
import { validateResource } from './validate-resource.js';
import { writeCurrent } from './write-current.js';

/** `POST [base]/[type]`: a new resource, whose id the server gives. https://hl7.org/fhir/R5/http.html#create */
export async function create(call: Call, services: Services): Promise<Reply> {
  checkParameters(call);
  const type = typeOf(call);
  refuseIfNoneExist(call);
  const resource = checkResource(call.body, type);
  // An id in the body is ignored, so it need not be a right one either.
  const { id: _id, ...rest } = resource;
  validateResource(rest as Resource, call, services);
  const id = newId();
  const { after } = await writeCurrent(services.store, type, id, (current) => {
    return composePut(resource, id, current, services);
  });
  if (after === undefined) throw new FhirError('internal');
  return replyWritten(call, 201, after, 'created');
}

/** @throws FhirError `condition-unsupported` for a conditional create: to create anyway would be wrong */
export function refuseIfNoneExist({ conditions }: Call): void {
  if (conditions.ifNoneExist !== undefined) {
    throw new FhirError('condition-unsupported', 'If-None-Exist (conditional create) is not supported yet');
  }
}
