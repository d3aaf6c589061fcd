import { FhirError } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import type { Put } from '../../store/store.js';
import { findTarget, singleTarget } from './write-target.js';
import { criteriaOf, updateResolver, type TargetResolver } from './target-resolver.js';
import type { Call, Reply } from '../../core/call.js';
import type { SentPatch } from '../../patch/sent-patch.js';
import { composePut } from '../../core/write/compose-change.js';
import { LARGE_BODY } from '../../core/write/large-bodies.js';
import { checkParameters } from '../../core/parameters.js';
import { contentToStore } from '../../core/write/content-to-store.js';
import { resourceToWrite } from '../../core/write/before-write.js';
import { patchResource } from './patch-resource.js';
import { liveVersion } from '../../core/write/preconditions.js';
import { MAX_PATCH_OPERATIONS } from '../../patch/patch-limits.js';
import { replyPut } from './reply-put.js';
import { readStored } from '../../core/read-stored.js';
import { atPlace, patchTypes } from './sent-patch.js';
import type { Services } from '../../core/services.js';
import { validateParameters, validatePatchedProfiles } from './validate-patch.js';
import type { WriteTarget, Target, WritePlan, WritePlanner } from '../../core/write/write-plan.js';

/** Each operation may look at the whole resource: more characters than this together take the main thread too long. */
const LARGE_WORK = 32 * 1024 * 1024;

/** Steps in which patching a Binary differs from patching other resources. */
export interface PatchHandling {
  /** The resource as returned to clients. */
  show(stored: Resource, target: Target): Promise<Resource>;
  /** The change; undefined if the patch changes nothing. */
  compose(patched: Resource, shown: Resource, target: Target): Promise<Put | undefined>;
  /** Patches the stored JSON text of a large resource in a worker thread; absent if that is not possible. */
  patchLarge?(json: string, patch: SentPatch): Promise<Resource>;
  reply(reply: Reply, target: Target): Reply;
  drop?(): Promise<void>;
}

/** `PATCH [base]/[type]/[id]`. https://hl7.org/fhir/R5/http.html#patch */
export const planPatch: WritePlanner = async (call, services) =>
  patchPlan(call, patchResolver(call), services, plainly(services));

/** `PATCH [base]/[type]?…`: the same for the one resource that matches the criteria. */
export const planConditionalPatch: WritePlanner = async (call, services) =>
  patchPlan(call, await conditionalPatchResolver(call, services), services, plainly(services));

/**
 * Resolves the resource of the URL, which has to exist.
 *
 * @throws FhirError `not-found`, `deleted`
 */
export function patchResolver(call: Call): TargetResolver {
  checkParameters(call);
  const { keys, resolveTarget: writeTarget } = updateResolver(call);
  return {
    keys,
    async resolveTarget(view) {
      const found = await writeTarget(view);
      const { id, current } = singleTarget(found);
      if (current === undefined) throw new FhirError('not-found', `There is no ${found.type}/${id}`);
      if (liveVersion(current) === undefined) {
        throw new FhirError('deleted', `${found.type}/${id} was deleted with version ${current.version}`);
      }
      return found;
    },
  };
}

/** Resolves the resource that matches the criteria. @throws FhirError `not-found`, `precondition-failed` */
export async function conditionalPatchResolver(call: Call, services: Services): Promise<TargetResolver> {
  const criteria = await criteriaOf(call, services);
  return {
    keys: [criteria.key],
    async resolveTarget(view): Promise<WriteTarget> {
      const { target, preconditions } = await findTarget(criteria, call.conditions, view);
      if (target === undefined) {
        throw new FhirError(
          'not-found',
          `There is nothing to patch: no resource fulfils ${criteria.text.slice(0, 200)}`,
        );
      }
      return { type: criteria.type, targets: [target], preconditions };
    },
  };
}

/** Plans a patch. @param handling how to patch this kind of resource */
export function patchPlan(
  call: Call,
  resolver: TargetResolver,
  services: Services,
  handling: PatchHandling,
): WritePlan {
  const patch = checkPatch(call, services);
  return {
    ...resolver,
    weight(writeTarget) {
      const json = liveVersion(singleTarget(writeTarget).current)?.json ?? '';
      return isLarge(json, patch) ? json.length : 0;
    },
    async decide(writeTarget) {
      const target = singleTarget(writeTarget);
      const live = liveVersion(target.current);
      if (live === undefined) throw new Error('a patch of nothing');
      const shown = await handling.show(await readStored(live.json, services), target);
      const patched = await atPlace(call.patchPlace, async () => {
        const isHooked = services.beforeWrite?.has(writeTarget.type) === true;
        const change = (made: Resource): Promise<Resource> =>
          resourceToWrite(made, { ...call, id: target.id }, services);
        // A worker thread validates what it makes, and hooks come before that.
        const large =
          !isHooked && isLarge(live.json, patch) ? await handling.patchLarge?.(live.json, patch) : undefined;
        const result = large ?? (await patchResource(shown, patch, services, isHooked ? change : undefined));
        await validatePatchedProfiles(result, patch, call, services);
        return result;
      });
      const checked = await atPlace(call.patchPlace, () => contentToStore(patched, target, call, services));
      const change = await handling.compose(checked, shown, target);
      return {
        changes: change === undefined ? [] : [change],
        reply: ([after]) => handling.reply(replyPut(call, target, after), target),
      };
    },
    ...(handling.drop && { drop: handling.drop }),
  };
}

function plainly(services: Services): PatchHandling {
  const { largeTexts } = services;
  return {
    ...(largeTexts && { patchLarge: (json: string, patch: SentPatch) => largeTexts.patch(json, patch) }),
    show: (stored) => Promise.resolve(stored),
    // A patch removes tags explicitly, so tags missing from the result were removed. An update that omits tags keeps them.
    compose: async (patched, before, { id, current }) =>
      composePut(patched, id, current, services, { tags: 'as-sent', before }),
    reply: (reply) => reply,
  };
}

/** Whether a resource is patched by a worker thread, where the server has one: it is large, or many operations change it. */
function isLarge(json: string, patch: SentPatch): boolean {
  const operations = operationsOf(patch);
  // One with too many is refused before it does anything.
  if (operations > MAX_PATCH_OPERATIONS) return false;
  return json.length > LARGE_BODY || json.length * operations > LARGE_WORK;
}

/** How many operations a patch has. */
function operationsOf(patch: SentPatch): number {
  const list = patch.format === 'json' ? patch.patch : patch.format === 'fhirpath' ? patch.parameters['parameter'] : [];
  return Array.isArray(list) ? list.length : 0;
}

/** The patch of a call; a FHIRPath Patch is validated like any resource. @throws FhirError */
function checkPatch(call: Call, services: Services): SentPatch {
  const { patch } = call;
  if (patch === undefined) {
    throw new FhirError('body-missing', `The request needs a patch as its body: ${patchTypes(services).join(', ')}`);
  }
  if (patch.format === 'fhirpath') checkFhirPathPatch(patch.parameters, services);
  return patch;
}

/** A patch without operations is legal and changes nothing. @throws FhirError with each fault that validation finds */
function checkFhirPathPatch(patch: Resource, services: Services): void {
  const { parameter } = patch;
  // A missing list is validated, because its name may be misspelt.
  if (!Array.isArray(parameter) || parameter.length > 0) validateParameters(patch, services);
}
