import { FhirError } from '../fhir/errors.js';
import { newId } from '../fhir/id.js';
import type { Resource } from '../fhir/resource.js';
import { readJson } from '../format/read-json.js';
import type { Put, StoredVersion } from '../store/store.js';
import {
  BINARY,
  blobKey,
  decodeData,
  isMediaType,
  once,
  pointerOf,
  storeContent,
  withPointer,
} from './binary-content.js';
import type { Pointer } from './binary-content.js';
import { showBinary } from './binary-read.js';
import type { Call, Reply } from './call.js';
import { checkId, checkResource } from './check-resource.js';
import { composePut } from './compose-change.js';
import { refuseIfNoneExist } from './create.js';
import { checkParameters } from './parameters.js';
import { checkWrite, liveVersion } from './preconditions.js';
import { replyWritten } from './reply-written.js';
import type { Services } from './services.js';
import { targetOf } from './target.js';
import { validateResource } from './validate-resource.js';
import { writeCurrent } from './write-current.js';

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
  const { resource, pointer } = await receive(call, services, id);
  let isKept = false;
  try {
    const { before, after } = await writeCurrent(services.store, BINARY, id, (current) => {
      if (call.interaction === 'update') checkWrite(call.conditions, current);
      return compose(resource, pointer, id, current, services);
    });
    isKept = after !== undefined;
    const live = liveVersion(after ?? before);
    if (live === undefined) throw new FhirError('internal');
    const isNew = after !== undefined && liveVersion(before) === undefined;
    return reply(call, isNew ? 201 : 200, live, isNew ? 'created' : isKept ? 'updated' : 'unchanged', services);
  } finally {
    // Whatever went wrong, or was there already: nobody refers to the blob. A failure to delete it is not the client's.
    if (!isKept && pointer !== undefined) await services.store.blobs.delete(blobKey(id, pointer.name)).catch(() => {});
  }
}

/** Takes in what was sent: the content goes into a blob, what is left is a small resource. */
async function receive(
  call: Call,
  { store: { blobs }, limits, ...services }: Services,
  id: string,
): Promise<{ readonly resource: Resource; readonly pointer: Pointer | undefined }> {
  if (call.content !== undefined) {
    const { contentType, securityContext, bytes } = call.content;
    if (!isMediaType(contentType)) throw new FhirError('header-invalid', 'Content-Type is no media type');
    const context = securityContext === undefined ? {} : { securityContext: { reference: securityContext } };
    const pointer = await storeContent(blobs, id, bytes, limits.body);
    return { resource: { resourceType: BINARY, id, contentType, ...context }, pointer };
  }
  const resource = checkResource(call.body, BINARY);
  if (call.interaction === 'update') checkId(resource, id);
  const { id: _ignored, ...rest } = resource;
  validateResource(call.interaction === 'update' ? resource : (rest as Resource), call, services);
  const data = decodeData(resource['data']);
  const pointer = data === undefined ? undefined : await storeContent(blobs, id, once(data), limits.body);
  return { resource, pointer };
}

/** The change; none where the current version has the same content and all else is equal too. */
function compose(
  resource: Resource,
  pointer: Pointer | undefined,
  id: string,
  current: StoredVersion | undefined,
  services: Services,
): Put | undefined {
  const live = liveVersion(current);
  const old = live === undefined ? undefined : pointerOf(readJson(live.json) as Resource);
  if (old !== undefined && old.sha256 === pointer?.sha256 && old.size === pointer.size) {
    if (composePut(withPointer(resource, old), id, current, services) === undefined) return undefined;
  }
  return composePut(withPointer(resource, pointer), id, current, services);
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
