import type { Resource } from '../../fhir/resource.js';
import type { ContainedExtract } from '../../indexing/contained.js';
import type { IndexEntry } from '../../indexing/entry.js';
import type { Fault } from '../../validate/fault.js';
import type { RuleFindings } from '../../validate/rules/create-rule-checker.js';

/** Findings of a worker thread that parsed a resource. */
export interface ParsedBody {
  /** Faults that validation found. */
  readonly faults: readonly Fault[];
  /** Content ready to be written; absent if the resource has faults, or may still change. */
  readonly content?: ParsedContent;
  /** All that is wrong with the resource; absent where no request asked for it. */
  readonly judgement?: Judgement;
}

/** All that is wrong with a resource by itself, and what only the terminology can tell. */
export interface Judgement extends RuleFindings {
  /** Faults of the structure, with their places in the text, as far as it has them. */
  readonly structure: readonly Fault[];
}

/** A resource without its id and `meta`, which the server sets. */
export interface ParsedContent extends ContainedExtract {
  /** The JSON text of all members but `resourceType`, `id` and `meta`, each with a comma before it. */
  readonly members: string;
  /** With as many of the words as there is room for. */
  readonly entries: readonly IndexEntry[];
  /** Bytes of the entries as JSON; infinite: the resource is too large, and text and entries are left out. */
  readonly entryBytes: number;
}

const known = new WeakMap<Resource, ParsedBody>();

/** Remembers what a worker found about a resource, which must not be changed from then on. */
export function rememberParsed(resource: Resource, prepared: ParsedBody): void {
  known.set(resource, prepared);
}

/** Returns what a worker found about this object; undefined if no worker parsed it. */
export function parsedBodyOf(resource: Resource): ParsedBody | undefined {
  return known.get(resource);
}

/** Copies what a worker found about one resource to an equivalent one. */
export function handOn<T extends Resource>(from: Resource, to: T): T {
  const prepared = known.get(from);
  if (prepared !== undefined) known.set(to, prepared);
  return to;
}
