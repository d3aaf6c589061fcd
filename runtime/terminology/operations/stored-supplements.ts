import type { Call } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { indexOf, splitCanonical } from '../resolver.js';
import type { CodeSystemIndex, Concept, Designation } from '../concepts.js';
import { isLanguageOf } from '../systems/languages.js';
import { isVersion } from '../version.js';
import { findMatches } from '../../operations/common/find-matches.js';

/** Stored supplements of one code system that are looked at. */
const MOST_SUPPLEMENTS = 20;

/**
 * The designations of a concept in some languages, from stored supplements that the client does not name: those "are not automatically
 * included except where they provide additional designations that may be indicated by, for example, the displayLanguage parameter".
 * https://hl7.org/fhir/R5/codesystem-operation-lookup.html
 *
 * @param languages tags; those of a region stand for their language
 */
export async function designationsOfSupplements(
  index: CodeSystemIndex,
  { code }: Concept,
  languages: readonly string[],
  call: Call,
  services: Services,
): Promise<readonly Designation[]> {
  if (languages.length === 0) return [];
  const wanted = new Set(languages.map((tag) => tag.split('-', 1)[0]!.toLowerCase()));
  const found = await storedSupplements(index, call, services);
  return found
    .flatMap(({ concepts }) => concepts.get(code)?.designations ?? [])
    .filter(({ language }) => language !== undefined && isLanguageOf(language, wanted));
}

/** The supplements of a code system that are stored, not retired, and within what the token may search. */
export async function storedSupplements(
  index: CodeSystemIndex,
  call: Call,
  services: Services,
): Promise<readonly CodeSystemIndex[]> {
  if (call.principal.access.on('CodeSystem', 's') === 'nothing') return [];
  const value = index.url.replaceAll(/[\\,$|]/g, String.raw`\$&`);
  const query = [
    ['supplements', value],
    ['status:not', 'retired'],
    ['_count', String(MOST_SUPPLEMENTS)],
  ] as const;
  const found: CodeSystemIndex[] = [];
  let seen = 0;
  for await (const supplement of findMatches('CodeSystem', query, call, services)) {
    if (seen++ === MOST_SUPPLEMENTS) break;
    const [url, version] = splitCanonical(String(supplement['supplements']));
    const isOf = url === index.url && (version === undefined || isVersion(index.version, version));
    if (supplement['content'] === 'supplement' && isOf) found.push(await indexOf(supplement));
  }
  return found;
}
