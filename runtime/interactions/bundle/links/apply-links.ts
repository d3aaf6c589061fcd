import type { JsonValue } from '../../../fhir/resource.js';
import type { Link, LinkTarget } from './links.js';
import { replaceLinks } from './narrative-links.js';

/** The targets of links, as far as they are known. */
export interface Names {
  /** `Type/id` of an entry's resource. */
  readonly ofEntry: (index: number) => string | undefined;
  /** `Type/id` of the resource that matches the criteria. */
  readonly ofCriteria: (criteria: string) => string | undefined;
  /** The version that the resource `Type/id` has after the transaction, for references that name it. */
  readonly versionOf: (name: string) => number | undefined;
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

function textOf({ text, to, isVersioned }: Link, names: Names): string {
  if ('print' in to) return to.print();
  if ('entry' in to || 'criteria' in to) {
    const name = nameIn(to, names);
    if (name === undefined) return text;
    const version = isVersioned === true ? names.versionOf(name) : undefined;
    return name + (version === undefined ? '' : `/_history/${version}`) + ('entry' in to ? to.rest : '');
  }
  return replaceLinks(text, (place) => {
    const entry = to.narrative.get(place);
    return entry === undefined ? undefined : names.ofEntry(entry);
  });
}

/** `Type/id` of the one resource that a link refers to, if it is known. */
export function nameIn(
  to: LinkTarget,
  { ofEntry, ofCriteria }: Pick<Names, 'ofEntry' | 'ofCriteria'>,
): string | undefined {
  if ('entry' in to) return ofEntry(to.entry);
  return 'criteria' in to ? ofCriteria(to.criteria) : undefined;
}
