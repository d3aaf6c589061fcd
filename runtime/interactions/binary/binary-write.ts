import { FhirError } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import { singleTarget } from '../write/write-target.js';
import { createResolver, conditionalResolver, updateResolver, type TargetResolver } from '../write/target-resolver.js';
import { BINARY, isMediaType, once, storeContent } from '../../core/binary/binary-content.js';
import { holdContent } from './binary-hold.js';
import { showBinary } from './binary-read.js';
import { checkBinary, composeBinary } from '../../core/binary/binary-store.js';
import type { Call, Reply, SentContent } from '../../core/call.js';
import { checkId, checkResource, sentId } from '../../core/write/check-resource.js';
import { checkParameters } from '../../core/parameters.js';
import { checkedView } from '../../core/access/checked-view.js';
import { handOn } from '../../core/write/parsed-bodies.js';
import { replyPut, replyExisting } from '../write/reply-put.js';
import type { Services } from '../../core/services.js';
import { storeView } from '../../core/store-view.js';
import { targetOf } from '../../core/target.js';
import type { WritePlan, WritePlanner } from '../../core/write/write-plan.js';

/** `POST [base]/Binary`: any content, or the resource. https://hl7.org/fhir/R5/binary.html#rest */
export const planCreateBinary: WritePlanner = async (call, services) => {
  checkParameters(call);
  const resolver = await createResolver(call, services);
  if (call.content !== undefined) return planContent(call, call.content, resolver, services);
  const sent = checkResource(call.body, BINARY);
  const { id: _ignored, ...rest } = sent;
  return planResource(call, handOn(sent, rest as Resource), resolver, services);
};

/** `PUT [base]/Binary/[id]`: any content, or the resource. https://hl7.org/fhir/R5/binary.html#rest */
export const planUpdateBinary: WritePlanner = async (call, services) => {
  checkParameters(call);
  if (call.content !== undefined) return planContent(call, call.content, updateResolver(call), services);
  const resource = checkResource(call.body, BINARY);
  checkId(resource, targetOf(call).id);
  return planResource(call, resource, updateResolver(call), services);
};

/** `PUT [base]/Binary?…`: any content, or the resource. */
export const planConditionalUpdateBinary: WritePlanner = async (call, services) => {
  if (call.content !== undefined) {
    return planContent(call, call.content, await conditionalResolver(call, undefined, services), services);
  }
  const resource = checkResource(call.body, BINARY);
  return planResource(call, resource, await conditionalResolver(call, sentId(resource), services), services);
};

async function planResource(
  call: Call,
  resource: Resource,
  resolver: TargetResolver,
  services: Services,
): Promise<WritePlan> {
  const data = await checkBinary(resource, call, services);
  const { store, limits } = services;
  const take = data && ((id: string) => storeContent(store.blobs, id, once(data), limits.body));
  return plan(call, resource, take, resolver, services);
}

function planContent(
  call: Call,
  { contentType, securityContext, bytes }: SentContent,
  resolver: TargetResolver,
  services: Services,
): Promise<WritePlan> {
  if (!isMediaType(contentType)) throw new FhirError('header-invalid', 'Content-Type is no media type');
  const context = securityContext === undefined ? {} : { securityContext: { reference: securityContext } };
  const { store, limits } = services;
  const take = (id: string) => storeContent(store.blobs, id, bytes, limits.body);
  return plan(call, { resourceType: BINARY, contentType, ...context }, take, resolver, services);
}

/** Stores the content before the commit, so that an upload blocks no other write, under the id that the target has now. */
async function plan(
  call: Call,
  resource: Resource,
  take: Parameters<typeof holdContent>[1] | undefined,
  resolver: TargetResolver,
  services: Services,
): Promise<WritePlan> {
  const held = take && holdContent(services.store.blobs, take, services.limits.body);
  const expected = await resolver.resolveTarget(checkedView(storeView(services.store), call, services));
  if (expected.exists !== true) await held?.at(singleTarget(expected).id);
  return {
    ...resolver,
    async decide(writeTarget, content = resource) {
      const target = singleTarget(writeTarget);
      if (writeTarget.exists === true)
        return { changes: [], reply: () => show(call, replyExisting(call, target), target.id, services) };
      const change = await composeBinary(content, await held?.at(target.id), target.id, target.current, services);
      return {
        changes: change === undefined ? [] : [change],
        reply: ([after]) => show(call, replyPut(call, target, after), target.id, services),
      };
    },
    ...(held && { drop: held.drop }),
  };
}

/** The answer to a write. A client that sent plain content gets it back only if it prefers so. */
function show(call: Call, reply: Reply, id: string, services: Services): Reply {
  const { json, ...head } = reply;
  const isMinimal = call.content !== undefined && call.prefer.return === undefined;
  return json === undefined || isMinimal ? head : showBinary(head, id, json, services);
}
