import { neededOn } from '../../auth/access/needed-scopes.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import type { Resource } from '../../fhir/resource.js';
import { readJson } from '../../format/read-json.js';
import type { StoredVersion } from '../../store/store.js';
import { BINARY, contentOf, pointerOf, splitAtContent } from '../../core/binary/binary-content.js';
import type { Call, Reply } from '../../core/call.js';
import { isExportFileId, readExportFile } from '../../core/job-files/read-job-file.js';
import { readPublishedFile } from '../../core/bulk-data/publication.js';
import { read } from '../read/read.js';
import type { InteractionHandler, Services } from '../../core/services.js';
import { targetOf } from '../../core/target.js';
import { readView } from '../../core/view.js';
import { vread } from '../read/vread.js';

/** Read of a Binary: its content, or the resource if the client accepts a FHIR media type. https://hl7.org/fhir/R5/binary.html */
export const readBinary: InteractionHandler = async (call, services) => {
  if (isExportFileId(call.id)) {
    const file = (await readExportFile(call, services)) ?? (await readPublishedFile(targetOf(call).id, call, services));
    if (file !== undefined) return file;
    // It was let in without a look at its scopes.
    const { access } = call.principal;
    if (access.on(BINARY, 'r') === 'nothing') throw scopeMissing(neededOn(BINARY, 'r'), access);
  }
  return complete(call, await read(call, services), services);
};

/** Read of one version of a Binary: each keeps its own content. */
export const vreadBinary: InteractionHandler = async (call, services) =>
  complete(call, await vread(call, services), services);

/** Adds the content to the answer. `_summary` and `_elements` select parts of the resource, so with them it is returned. */
function complete(call: Call, reply: Reply, services: Services): Reply {
  if (reply.json === undefined) return reply;
  const { json, ...head } = reply;
  const { id } = targetOf(call);
  if (call.wantsContent !== true || readView(call, services) !== undefined) return showBinary(head, id, json, services);
  return { ...head, content: contentOf(readJson(json) as Resource, id, services.store.blobs) };
}

/** The answer with this Binary as a resource, its content in `data`. */
export function showBinary(
  head: Reply,
  id: string,
  json: NonNullable<StoredVersion['json']>,
  services: Services,
): Reply {
  const resource = readJson(json) as Resource;
  if (pointerOf(resource) === undefined) return { ...head, json };
  return { ...head, content: contentOf(resource, id, services.store.blobs), around: splitAtContent(resource) };
}
