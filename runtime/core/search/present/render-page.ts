import { yieldToEventLoop } from '../../../fhir/yield-to-event-loop.js';
import type { Resource } from '../../../fhir/resource.js';
import { readJson } from '../../../format/read-json.js';
import { markSubsetted } from '../../../format/summary-tag.js';
import { writeJson } from '../../../format/write-json.js';
import { BINARY, contentOf, pointerOf, withoutPointer } from '../../binary/binary-content.js';
import type { RenderedVersion } from '../contained/contained-search.js';
import type { Services, View } from '../../services.js';
import { viewJson } from '../../view.js';

/** Contents of Binaries that one page takes in, in bytes before base64. */
const PAGE_CONTENT = 1024 * 1024;

/**
 * The JSON text of each version as a page of several shows it, cut down to the view of its
 * type; undefined for deletions. Of Binaries it
 * has the content as long as there is room; what has to go without is tagged as SUBSETTED. Of one that is contained in another resource
 * nothing is kept apart: what it says of that is somebody's own words.
 */
export async function renderPage(
  versions: readonly RenderedVersion[],
  viewOf: (type: string) => View | undefined,
  services: Services,
): Promise<(string | undefined)[]> {
  const texts: (string | undefined)[] = [];
  let room = PAGE_CONTENT;
  const pace = yieldToEventLoop();
  for (const { type, id, json, path } of versions) {
    const text = json === undefined ? undefined : viewJson(json, viewOf(type), services);
    await pace();
    const resource =
      text === undefined || type !== BINARY || path !== undefined ? undefined : (readJson(text) as Resource);
    const pointer = resource === undefined ? undefined : pointerOf(resource);
    if (resource === undefined || pointer === undefined) {
      texts.push(text);
      continue;
    }
    const shown = withoutPointer(resource);
    if (pointer.size > room) {
      texts.push(writeJson(markSubsetted(shown)));
      continue;
    }
    room -= pointer.size;
    texts.push(writeJson({ ...shown, data: await readContent(resource, id, services) }));
  }
  return texts;
}

async function readContent(resource: Resource, id: string, { store }: Services): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of await contentOf(resource, id, store.blobs).open()) pieces.push(Uint8Array.from(piece));
  return Buffer.concat(pieces).toString('base64');
}
