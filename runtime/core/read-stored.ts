import type { Resource } from '../fhir/resource.js';
import { readJson } from '../format/read-json.js';
import type { StoredVersion } from '../store/store.js';
import { LARGE_BODY, type StoredPurpose } from './write/large-bodies.js';
import { liveVersion } from './write/preconditions.js';
import type { Services } from './services.js';

/** Stored resources may be deeper than clients may write them now. */
export const STORED_DEPTH = 10_000;

/**
 * The tree of a resource as the store has it. One that is large is read elsewhere, where the server has such a place.
 *
 * @param purpose what else is done there: `parsedBodyOf` returns what came of it
 */
export async function readStored(
  json: string,
  { largeTexts }: Pick<Services, 'largeTexts'>,
  purpose: StoredPurpose = 'parse',
): Promise<Resource> {
  if (largeTexts === undefined || json.length <= LARGE_BODY) return readJson(json, STORED_DEPTH) as Resource;
  return (await largeTexts.parse(json, STORED_DEPTH, purpose)) as Resource;
}

/**
 * Reads the content of a current version if it is large; undefined: it is small, or no version is current. Small ones are read
 * where their content is needed.
 */
export async function readLargeVersion(
  current: StoredVersion | undefined,
  services: Pick<Services, 'largeTexts'>,
): Promise<Resource | undefined> {
  const live = liveVersion(current);
  return live === undefined || live.json.length <= LARGE_BODY ? undefined : readStored(live.json, services);
}
