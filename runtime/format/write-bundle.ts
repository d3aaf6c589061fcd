import type { JsonObject } from '../fhir/resource.js';
import { writeJson } from './write-json.js';

/** Spaces for each level. */
const STEP = 2;

/**
 * Writes a Bundle, indented, as `writeJson` does where its entries are its last member: entry by entry.
 *
 * @param bundle without its entries
 * @param entries at least one
 */
export function* writeJsonBundle(bundle: JsonObject, entries: Iterable<JsonObject>): Generator<string> {
  yield `${writeJson(bundle, STEP).slice(0, -'\n}'.length)},\n  "entry": [`;
  let separator = '';
  for (const entry of entries) {
    // Within a value a line feed is written as an escape.
    yield `${separator}\n    ${writeJson(entry, STEP).replaceAll('\n', '\n    ')}`;
    separator = ',';
  }
  yield '\n  ]\n}';
}
