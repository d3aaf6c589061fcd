import type { Resource } from '../../fhir/resource.js';
import type { ContainedExtract } from '../../search/contained.js';
import type { IndexEntry } from '../../search/entry.js';
import type { LocatedFault } from '../../validate/locate-faults.js';

/** What is known of a resource before an interaction has looked at it: a thread that took it in found that. */
export interface ParsedBody {
  /** What is wrong with its structure. */
  readonly faults: readonly LocatedFault[];
  /** What is written of it; absent where something is wrong, or where it may still change. */
  readonly content?: ParsedContent;
}

/** A resource but for its id and its `meta`, which the server has its own ideas of. */
export interface ParsedContent extends ContainedExtract {
  /** The JSON text of all members but `resourceType`, `id` and `meta`, each with a comma before it. */
  readonly members: string;
  readonly entries: readonly IndexEntry[];
  /** Bytes of the entries as JSON; infinite: the resource is too large, and text and entries are left out. */
  readonly entryBytes: number;
}

const known = new WeakMap<Resource, ParsedBody>();

/** Keeps what is known beside a resource, which must not be changed from then on. */
export function rememberParsed(resource: Resource, prepared: ParsedBody): void {
  known.set(resource, prepared);
}

/** What is known of this very object. */
export function parsedBodyOf(resource: Resource): ParsedBody | undefined {
  return known.get(resource);
}

/** Gives what is known of one resource to another that is as good as it. */
export function handOn<T extends Resource>(from: Resource, to: T): T {
  const prepared = known.get(from);
  if (prepared !== undefined) known.set(to, prepared);
  return to;
}
