import { isObject, type JsonValue, type Resource } from '../../../fhir/resource.js';
import { isMalformedUrn } from '../../../validate/rules/check-reference.js';
import { findLinks, type Link, type LinkFinder } from './links.js';
import { wellFormed } from './placeholders.js';

/**
 * Writes placeholders as UUIDs that stand for them. What a transaction stores has names of resources there, so what is checked before
 * these are known must not fail for the placeholders; a text that is no link stays, and is refused.
 */
export function writeWellFormed(links: readonly Link[]): void {
  for (const { holder, key, text, to } of links) {
    if ('entry' in to) (holder as Record<string | number, JsonValue>)[key] = wellFormed(text);
  }
}

/**
 * Returns what does the same in a resource, before the entries of its transaction are read.
 *
 * @returns undefined where no entry has such a `fullUrl`
 */
export function namesMadeWellFormed(
  entries: readonly JsonValue[],
  plans: LinkFinder['plans'],
): ((resource: Resource) => void) | undefined {
  const names = new Set<unknown>(entries.map((entry) => (isObject(entry) ? entry['fullUrl'] : undefined)));
  if (![...names].some((name) => typeof name === 'string' && isMalformedUrn(name))) return undefined;
  const finder: LinkFinder = {
    plans,
    find: (text) => (names.has(text) ? 0 : undefined),
    criteriaOf: () => undefined,
    onUnknown: () => {},
    findStored: () => undefined,
    takeVersionRequest: () => false,
  };
  return (resource) => writeWellFormed(findLinks(resource, finder));
}
