import type { Resource } from '../fhir/resource.js';
import { readJson } from '../format/read-json.js';
import { writeJson } from '../format/write-json.js';
import type { SentPatch } from '../patch/sent-patch.js';
import { STORED_DEPTH } from '../core/read-stored.js';

/** A patch on its way to a thread: trees may hold numbers that cannot be cloned. */
export interface PatchText {
  readonly format: SentPatch['format'];
  readonly text: string;
}

/** The text of a patch. */
export function packPatch(patch: SentPatch): PatchText {
  const { format } = patch;
  switch (format) {
    case 'xml':
      return patch;
    case 'json':
      return { format, text: writeJson(patch.patch) };
    case 'fhirpath':
      return { format, text: writeJson(patch.parameters) };
  }
}

/** The patch again, on the other side. */
export function unpackPatch({ format, text }: PatchText): SentPatch {
  if (format === 'xml') return { format, text };
  const tree = readJson(text, STORED_DEPTH);
  return format === 'json' ? { format, patch: tree } : { format, parameters: tree as Resource };
}
