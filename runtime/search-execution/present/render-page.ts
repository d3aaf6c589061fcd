import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import type { Resource } from '../../fhir/resource.js';
import { readJson } from '../../format/read-json.js';
import { markSubsetted } from '../../format/summary-tag.js';
import { writeJson } from '../../format/write-json.js';
import { BINARY, contentOf, pointerOf, withoutPointer } from '../../core/binary/binary-content.js';
import type { RenderedVersion } from '../contained/contained-search.js';
import { isShown } from '../parse/check-view.js';
import type { Services, View } from '../../core/services.js';
import { viewJson } from '../../core/view.js';

/** The view of a type's resources; undefined: they are shown whole. */
export type ViewOf = (type: string) => View | undefined;

/** Contents of Binaries that one page includes, in bytes before base64. */
const PAGE_CONTENT = 1024 * 1024;

/**
 * The JSON text of each version on a page, cut down to the view of its type; undefined for deletions.
 *
 * Contents of Binaries are included as long as `PAGE_CONTENT` has room; a Binary without its content is tagged SUBSETTED. The
 * content of a contained Binary is part of its text already.
 */
export async function renderPage(
  versions: readonly RenderedVersion[],
  viewOf: ViewOf,
  services: Services,
): Promise<(string | undefined)[]> {
  const texts: (string | undefined)[] = [];
  let room = PAGE_CONTENT;
  const pace = yieldToEventLoop();
  for (const { type, id, json, path } of versions) {
    const view = viewOf(type);
    if (view === undefined && type !== BINARY) {
      texts.push(json);
      continue;
    }
    const text = json === undefined || view === undefined ? json : viewJson(json, view, services);
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

/**
 * The views of matches. Where several types are searched, each type shows those of the named elements that it has.
 *
 * @param isAcross whether several types are searched
 */
export function matchViews(view: View | undefined, isAcross: boolean, subset: Services['subset']): ViewOf {
  const elements = view?.elements;
  if (!isAcross || elements === undefined || subset === undefined) return () => view;
  const known = new Map<string, View>();
  return (type) => {
    let own = known.get(type);
    if (own === undefined) {
      const had = elements.filter((element) => isShown(type, { elements: [element] }, subset));
      // A type that has none of the elements shows its id only, rather than everything.
      known.set(type, (own = { elements: had.length === 0 ? ['id'] : had }));
    }
    return own;
  };
}

/**
 * The views of included resources. A summary applies to them too; elements apply to the matches, except those with a type before
 * their name. https://hl7.org/fhir/R5/search.html#elements
 */
export function includeViews(view: View | undefined): ViewOf {
  const { elements, ...rest } = view ?? {};
  if (elements === undefined) return () => view;
  const typed = elements.filter((element) => element.includes('.'));
  return () => (typed.length === 0 ? undefined : { ...rest, elements: typed });
}
