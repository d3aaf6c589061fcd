import type { Resource } from '../fhir/resource.js';
import { createAimer } from './aimer.js';
import { checkResource } from './check-resource.js';
import { checkParameters } from './parameters.js';
import { handOn } from './prepared.js';
import { putPlan } from './put-plan.js';
import { typeOf } from './target.js';
import { validateResource } from './validate-resource.js';
import type { WritePlanner } from './write-plan.js';

/**
 * `POST [base]/[type]`: a new resource, whose id the server gives; with `If-None-Exist` only where criteria find none.
 * https://hl7.org/fhir/R5/http.html#create
 */
export const planCreate: WritePlanner = async (call, services) => {
  checkParameters(call);
  const aimer = await createAimer(call, services);
  const resource = checkResource(call.body, typeOf(call));
  // An id in the body is ignored, so it need not be a right one either.
  const { id: _id, ...rest } = resource;
  validateResource(handOn(resource, rest as Resource), call, services);
  return putPlan(call, aimer, resource, services);
};
