import { authorize } from '../../search-execution/authorize/authorize.js';
import { createCallOf } from '../../core/create-call.js';
import type { Call } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { callToWrite } from '../../core/write/before-write.js';
import type { Target, WritePlanner, WriteTarget } from '../../core/write/write-plan.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import type { OwnBases } from '../../path/own-bases.js';

const PROVENANCE = 'Provenance';

/** Stands for the target of a Provenance until it is known. */
const UNKNOWN_TARGET = 'urn:uuid:00000000-0000-4000-8000-000000000000';

/**
 * Makes of a planner one that stores the Provenance of the header `X-Provenance` together with what it writes, or neither. The version that is
 * written becomes its target. Where nothing is written, there is nothing to tell of. It needs the scope to create a Provenance.
 * https://hl7.org/fhir/R5/http.html#provenance
 *
 * @param planCreate plans the creation of the Provenance, its access check included
 */
export function withProvenance(planner: WritePlanner, planCreate: WritePlanner): WritePlanner {
  return async (call, services) => {
    const { provenance } = call;
    if (provenance === undefined) return planner(call, services);
    const own = await provenanceCall(call, provenance, services);
    // First, because the plan for a Binary has stored its content.
    const record = await planCreate(own, services);
    const plan = await planner(call, services);
    let recordTarget: WriteTarget | undefined;
    return {
      ...plan,
      keys: [...plan.keys, ...record.keys],
      async resolveTarget(view) {
        recordTarget = await record.resolveTarget(view);
        return plan.resolveTarget(view);
      },
      async decide(writeTarget, content) {
        const [target] = writeTarget.targets;
        if (target === undefined || recordTarget === undefined) return plan.decide(writeTarget, content);
        // Whether or not something is written: a refusal must not tell whether what is there is the same.
        const about = withTarget(own.body as Resource, provenance, { type: writeTarget.type, ...target }, services.own);
        const recorded = await record.decide(recordTarget, about);
        const decided = await plan.decide(writeTarget, content);
        if (decided.changes.length === 0) return decided;
        return {
          changes: [...decided.changes, ...recorded.changes],
          reply: (versions) => decided.reply(versions.slice(0, decided.changes.length)),
          record: (versions) => services.audit.answered(own, recorded.reply(versions.slice(decided.changes.length))),
        };
      },
    };
  };
}

/** The creation of the Provenance as a call of its own, authorized. @throws FhirError `scope-missing` */
async function provenanceCall(call: Call, provenance: Resource, services: Services): Promise<Call> {
  // The structure asks for a target.
  const body = { ...provenance, target: provenance['target'] ?? [{ reference: UNKNOWN_TARGET }] };
  const own: Call = { ...createCallOf(call, body, {}), type: PROVENANCE };
  authorize(own, call.principal.access, services);
  return services.beforeWrite === undefined ? own : callToWrite(own, services);
}

/**
 * A Provenance about the version that a write makes of its target.
 *
 * @param sent the same as the header has it
 * @throws FhirError `header-invalid` where it names another resource than that which is written
 */
function withTarget(
  provenance: Resource,
  { target: named = [] }: Resource,
  { type, id, current }: Target & { readonly type: string },
  bases: OwnBases,
): Resource {
  const version = (current?.version ?? 0) + 1;
  const isSame = (reference: JsonValue | undefined): boolean => {
    const local = bases.readLocal(reference);
    if (local?.type !== type || local.id !== id) return false;
    return local.version === undefined || local.version === String(version);
  };
  const references = (named as readonly JsonValue[]).filter(isObject);
  if (!references.every((each) => isSame(each['reference']))) {
    const text = `X-Provenance has a target other than ${type}/${id}, which is written; leave target out, and the server fills it in`;
    throw new FhirError('header-invalid', text);
  }
  const target: JsonObject = { ...references[0], reference: `${type}/${id}/_history/${version}` };
  return { ...provenance, target: [target] };
}
