import type { JsonObject } from '../../fhir/resource.js';
import { writeTextPage } from '../../format/html.js';
import { writeJsonBundle } from '../../format/write-bundle.js';
import { writeJson } from '../../format/write-json.js';
import type { Writer } from './codecs.js';

/** Writes resources for people with a browser: as indented JSON on a page, where narratives are text and nothing is executed. */
export const HTML_WRITER: Writer = {
  write: (resource) => [...writeTextPage(titleOf(resource), [writeJson(resource, 2)])].join(''),
  writeBundle: (bundle, entries) => Promise.resolve(writeTextPage(titleOf(bundle), writeJsonBundle(bundle, entries))),
};

function titleOf({ resourceType, id }: JsonObject): string {
  return [resourceType, id].filter((part) => typeof part === 'string').join('/') || 'FHIR';
}
