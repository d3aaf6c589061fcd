import type { JsonValue, Resource } from '../fhir/resource.js';
import { readJson } from '../format/read-json.js';
import { readStored } from './read-stored.js';
import type { Services } from './services.js';

/** Texts beyond this are read as `readStored` does, elsewhere where the server has such a place. In characters. */
const LARGE = 128 * 1024;

/**
 * A number whose text a double may not give back: a decimal that ends in 0 or is very small, an exponent, minus zero, many digits. It
 * follows the name of a property, or is in a list; the look ahead finds those places faster. A text with commas may look like that; then
 * the exact reader has a little more work.
 */
const INEXACT = /(?:":|[,[])(?=[-\d\s])\s*-?(?:\d+\.\d*0(?!\d)|\d[\d.]*[eE]|0\.00000|[\d.]{16}|(?<=-)0(?![\d.]))/;

/** The tree of a stored resource: by the engine's own reader, which is much faster, where that loses nothing. */
export function parseStored(json: string, services: Pick<Services, 'largeTexts'>): Resource | Promise<Resource> {
  if (json.length > LARGE || INEXACT.test(json)) return readStored(json, services);
  return JSON.parse(json) as Resource;
}

/** Parses a short text of our own making: by the engine's own reader where that loses nothing. */
export function parseExact(json: string): JsonValue {
  return INEXACT.test(json) ? readJson(json) : (JSON.parse(json) as JsonValue);
}
