import { checkComplete, clientMeta } from '../../fhir/meta.js';
import type { Resource } from '../../fhir/resource.js';
import { createResolver } from './target-resolver.js';
import { checkResource } from '../../core/write/check-resource.js';
import { checkParameters } from '../../core/parameters.js';
import { handOn } from '../../core/write/parsed-bodies.js';
import { putPlan } from './put-plan.js';
import { typeOf } from '../../core/target.js';
import { validateWritten } from '../../core/write/validate-written.js';
import type { WritePlanner } from '../../core/write/write-plan.js';

/**
 * `POST [base]/[type]`: a new resource with an id of the server's; with `If-None-Exist` only if no resource matches.
 * https://hl7.org/fhir/R5/http.html#create
 */
export const planCreate: WritePlanner = async (call, services) => {
  checkParameters(call);
  const resolver = await createResolver(call, services);
  const resource = checkResource(call.body, typeOf(call));
  // An id in the body is ignored, so an invalid one is no fault.
  const { id: _id, ...rest } = resource;
  await validateWritten(handOn(resource, rest as Resource), call, services);
  // Also where criteria match, and nothing is written: whether a body is accepted does not depend on what is stored.
  checkComplete(resource, clientMeta(resource));
  return putPlan(call, resolver, resource, services);
};
