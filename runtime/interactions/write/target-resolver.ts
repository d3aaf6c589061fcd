import { FhirError } from '../../fhir/errors.js';
import { newId } from '../../fhir/id.js';
import { targetById, targetByCriteria, targetForCreate } from './write-target.js';
import type { Call } from '../../core/call.js';
import { readCriteria, splitQuery, type Criteria } from '../../search-execution/criteria.js';
import { readEtags } from '../../core/write/preconditions.js';
import type { Services } from '../../core/services.js';
import { targetOf, typeOf } from '../../core/target.js';
import type { WritePlan } from '../../core/write/write-plan.js';

/** The part of a plan that determines which resource a write changes. */
export type TargetResolver = Pick<WritePlan, 'keys' | 'resolveTarget'>;

/** Resolver of a create or conditional create. @throws FhirError for unusable criteria */
export async function createResolver(call: Call, services: Services): Promise<TargetResolver> {
  const type = typeOf(call);
  const criteria = await readIfNoneExist(call, type, services);
  const id = newId();
  return {
    keys: criteria === undefined ? [] : [criteria.key],
    resolveTarget: (view) => targetForCreate(type, id, criteria, view),
  };
}

/** Resolver of an update by id. @throws FhirError `header-invalid` */
export function updateResolver(call: Call): TargetResolver {
  const { type, id } = targetOf(call);
  // Parsed before the lookup: otherwise a malformed header would be reported only for resources that the client may see.
  readEtags(call.conditions);
  return { keys: [`${type}/${id}`], resolveTarget: (view) => targetById(type, id, call.conditions, view) };
}

/**
 * Resolver of a conditional update.
 *
 * @param sent the id in the body
 * @throws FhirError for unusable criteria
 */
export async function conditionalResolver(
  call: Call,
  sent: string | undefined,
  services: Services,
): Promise<TargetResolver> {
  const criteria = await criteriaOf(call, services);
  const ids = { sent, made: newId() };
  return {
    keys: [criteria.key, ...(sent === undefined ? [] : [`${criteria.type}/${sent}`])],
    resolveTarget: (view) => targetByCriteria(criteria, ids, call.conditions, view),
  };
}

/** The criteria in the URL of a conditional write. @throws FhirError as `readCriteria` */
export async function criteriaOf(call: Call, services: Services): Promise<Criteria> {
  return { ...(await readCriteria(typeOf(call), call.params, call, services)), part: 'url' };
}

/** https://hl7.org/fhir/R5/http.html#ccreate */
async function readIfNoneExist(call: Call, type: string, services: Services): Promise<Criteria | undefined> {
  const { ifNoneExist } = call.conditions;
  if (ifNoneExist === undefined) return undefined;
  try {
    const { type: named = type, params } = splitQuery(ifNoneExist, services.own);
    if (named !== type) throw new FhirError('type-mismatch', `names ${named.slice(0, 64)}, the URL ${type}`);
    return { ...(await readCriteria(type, params, call, services)), part: 'ifNoneExist' };
  } catch (error) {
    if (!(error instanceof FhirError) || error.status !== 400) throw error;
    const text =
      error.code === 'criteria-missing' ? 'has no criteria; it has to be like identifier=system|value' : error.message;
    throw new FhirError(error.code, `If-None-Exist: ${text}`, { part: 'ifNoneExist' });
  }
}
