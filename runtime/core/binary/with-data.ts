import type { JsonObject, Resource } from '../../fhir/resource.js';
import type { BlobStore } from '../../store/store.js';
import { contentOf, pointerOf, withoutPointer } from './binary-content.js';

/** Bytes of content that one request puts into the Binaries that it works on. */
const MOST = 5 * 1024 * 1024;

/** Why there is no `data`. https://hl7.org/fhir/extensions/StructureDefinition-data-absent-reason.html */
const ABSENT: JsonObject = {
  extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unsupported' }],
};

/**
 * Opens the reader of Binaries for a request that works on resources as trees: it gives stored Binaries as their clients know them,
 * with the content in `data`. Where the contents of the request are more than 5 MB, the further ones are left out, and `_data` has a
 * `data-absent-reason`: such a content is read by `GET Binary/[id]`.
 */
export function openBinaries(blobs: BlobStore): (stored: Resource) => Promise<Resource> {
  let left = MOST;
  return async (stored) => {
    const pointer = pointerOf(stored);
    if (pointer === undefined) return stored;
    const resource = withoutPointer(stored);
    if (pointer.size > left) return { ...resource, _data: { ...(resource['_data'] as JsonObject), ...ABSENT } };
    left -= pointer.size;
    const pieces: Uint8Array[] = [];
    for await (const piece of await contentOf(stored, String(stored['id']), blobs).open()) pieces.push(piece);
    return { ...resource, data: Buffer.concat(pieces).toString('base64') };
  };
}
