import type { JsonValue } from '../../../fhir/resource.js';
import type { Link } from './links.js';
import { replaceLinks } from './narrative-links.js';

/** The targets of links, as far as they are known. */
export interface Names {
  /** `Type/id` of an entry's resource. */
  readonly ofEntry: (index: number) => string | undefined;
  /** `Type/id` of the resource that matches the criteria. */
  readonly ofCriteria: (criteria: string) => string | undefined;
}

/**
 * Replaces links by the names of their targets, in the resource that has the links. Can be repeated with other names. A link
 * whose target has no name yet keeps the text that was sent.
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
