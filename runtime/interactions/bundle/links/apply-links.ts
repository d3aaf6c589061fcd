import type { JsonValue } from '../../../fhir/resource.js';
import type { Link } from './links.js';
import { replaceLinks } from './narrative-links.js';

/** What links lead to, as far as it is known. */
export interface Names {
  /** `Type/id` of an entry's resource. */
  readonly ofEntry: (index: number) => string | undefined;
  /** `Type/id` of what criteria find. */
  readonly ofCriteria: (criteria: string) => string | undefined;
}

/**
 * Puts names in the place of links, in the resource that they were found in; it can be done again with others. What has no
 * name yet stays as it was sent.
 */
export function applyLinks(links: readonly Link[], names: Names): void {
  for (const link of links) {
    // Arrays, objects and nodes, each with its own kind of key.
    (link.holder as Record<string | number, JsonValue>)[link.key] = textOf(link, names);
  }
}

function textOf({ text, to }: Link, { ofEntry, ofCriteria }: Names): string {
  if ('entry' in to) {
    const name = ofEntry(to.entry);
    return name === undefined ? text : name + to.rest;
  }
  if ('print' in to) return to.print();
  if ('criteria' in to) return ofCriteria(to.criteria) ?? text;
  return replaceLinks(text, (place) => {
    const entry = to.narrative.get(place);
    return entry === undefined ? undefined : ofEntry(entry);
  });
}
