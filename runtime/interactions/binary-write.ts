import { FhirError } from '../fhir/errors.js';
import { newId } from '../fhir/id.js';
import type { Resource } from '../fhir/resource.js';
import type { StoredVersion } from '../store/store.js';
import { BINARY, isMediaType, storeContent } from './binary-content.js';
import { showBinary } from './binary-read.js';
import { takeBinary, writeBinary, type TakenBinary } from './binary-store.js';
import type { Call, Reply } from './call.js';
import { checkId, checkResource } from './check-resource.js';
import { refuseIfNoneExist } from './create.js';
import { checkParameters } from './parameters.js';
import { checkWrite, liveVersion } from './preconditions.js';
import { replyWritten } from './reply-written.js';
import type { Services } from './services.js';
import { targetOf } from './target.js';

/** `POST [base]/Binary`: any content, or the resource. https://hl7.org/fhir/R5/binary.html#rest */
export async function createBinary(call: Call, services: Services): Promise<Reply> {
  checkParameters(call);
  refuseIfNoneExist(call);
  return store(call, services, newId());
}

/** `PUT [base]/Binary/[id]`: any content, or the resource. https://hl7.org/fhir/R5/binary.html#rest */
export async function updateBinary(call: Call, services: Services): Promise<Reply> {
  checkParameters(call);
  const { type, id } = targetOf(call);
  // Before the content is taken in; what counts is asked again when it is written.
  if (call.conditions.ifMatch !== undefined || call.conditions.ifNoneMatch !== undefined) {
    checkWrite(call.conditions, await services.store.read(type, id));
  }
  return store(call, services, id);
}

async function store(call: Call, services: Services, id: string): Promise<Reply> {
  const { before, after } = await writeBinary(await receive(call, services, id), id, services, (current) => {
    if (call.interaction === 'update') checkWrite(call.conditions, current);
  });
  const live = liveVersion(after ?? before);
  if (live === undefined) throw new FhirError('internal');
  const isNew = after !== undefined && liveVersion(before) === undefined;
  const what = isNew ? 'created' : after === undefined ? 'unchanged' : 'updated';
  return reply(call, isNew ? 201 : 200, live, what, services);
}

/** Takes in what was sent, in either form. */
async function receive(call: Call, services: Services, id: string): Promise<TakenBinary> {
  if (call.content !== undefined) {
    const { contentType, securityContext, bytes } = call.content;
    if (!isMediaType(contentType)) throw new FhirError('header-invalid', 'Content-Type is no media type');
    const context = securityContext === undefined ? {} : { securityContext: { reference: securityContext } };
    const pointer = await storeContent(services.store.blobs, id, bytes, services.limits.body);
    return { resource: { resourceType: BINARY, id, contentType, ...context }, pointer };
  }
  const resource = checkResource(call.body, BINARY);
  if (call.interaction === 'update') {
    checkId(resource, id);
    return takeBinary(resource, id, services, call.text);
  }
  const { id: _ignored, ...rest } = resource;
  return takeBinary(rest as Resource, id, services, call.text);
}

/** Content is not sent back to whoever sent it as such, unless asked for. */
function reply(call: Call, status: 200 | 201, live: StoredVersion, what: string, services: Services): Reply {
  const isMinimal = call.content !== undefined && call.prefer.return === undefined;
  const { json, ...head } = replyWritten(
    isMinimal ? { ...call, prefer: { return: 'minimal' } } : call,
    status,
    live,
    what,
  );
  return json === undefined ? head : showBinary(head, live.id, json, services);
}
