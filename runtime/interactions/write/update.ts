import { conditionalResolver, updateResolver } from './target-resolver.js';
import { checkId, checkResource, sentId } from '../../core/write/check-resource.js';
import { checkParameters } from '../../core/parameters.js';
import { putPlan } from './put-plan.js';
import { targetOf, typeOf } from '../../core/target.js';
import { validateWritten } from '../../core/write/validate-written.js';
import type { WritePlanner } from '../../core/write/write-plan.js';

/**
 * `PUT [base]/[type]/[id]`: new content. Creates a resource that is missing or deleted. Writes no new version if the content
 * equals the current one. https://hl7.org/fhir/R5/http.html#update
 */
export const planUpdate: WritePlanner = async (call, services) => {
  checkParameters(call);
  const { type, id } = targetOf(call);
  const resource = checkResource(call.body, type);
  checkId(resource, id);
  await validateWritten(resource, call, services);
  return putPlan(call, updateResolver(call), resource, services);
};

/**
 * `PUT [base]/[type]?…`: the same for the one resource that matches the criteria, or a new one. The new content need not
 * match the criteria: the specification does not ask for that. https://hl7.org/fhir/R5/http.html#cond-update
 */
export const planConditionalUpdate: WritePlanner = async (call, services) => {
  const resource = checkResource(call.body, typeOf(call));
  const resolver = await conditionalResolver(call, sentId(resource), services);
  await validateWritten(resource, call, services);
  return putPlan(call, resolver, resource, services);
};
