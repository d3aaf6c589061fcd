import { isJson, PathItem, type Json } from '../../path/evaluate/item.js';
import { readReference } from '../../path/reference-text.js';

/** A Bundle that the resource at hand is an entry of. */
export interface BundleScope {
  readonly byUrl: ReadonlyMap<string, Json>;
  readonly fullUrl: string | undefined;
}

/** Where a reference is, and what is around it. */
export interface ReferenceScope {
  /** The outermost resource that the reference is in, but for Bundles. */
  readonly root: Json;
  readonly containedById: ReadonlyMap<string, Json>;
  readonly bundle: BundleScope | undefined;
  readonly tools: { readonly resourceTypes: ReadonlySet<string> };
  itemOf(resource: Json): PathItem;
}

/** Target of a reference, as far as the resource shows it. */
export interface Target {
  readonly type: string;
  /** Undefined: it is elsewhere. */
  readonly resource?: Json;
}

/**
 * Where the text of a reference leads: to a contained resource, to an entry of the same Bundle, or to a resource elsewhere,
 * of which only the type is known. Undefined: not even that. https://hl7.org/fhir/R5/references.html#literal
 */
export function targetOf(text: string, run: ReferenceScope): Target | undefined {
  if (text.startsWith('#')) {
    const found = text === '#' ? run.root : run.containedById.get(text.slice(1));
    return found === undefined ? undefined : { type: String(found['resourceType']), resource: found };
  }
  const read = readReference(text);
  const entry = entryOf(text, read !== undefined && read.base === undefined, run);
  if (entry !== undefined) return { type: String(entry['resourceType']), resource: entry };
  return read === undefined || !run.tools.resourceTypes.has(read.type) ? undefined : { type: read.type };
}

/** The entry of the Bundle at hand. https://hl7.org/fhir/R5/bundle.html#references */
function entryOf(text: string, isRelative: boolean, { bundle }: ReferenceScope): Json | undefined {
  if (bundle === undefined) return undefined;
  if (!isRelative) return bundle.byUrl.get(text);
  const base = /^(https?:\/\/.*\/)[A-Z][A-Za-z]*\/[A-Za-z0-9.-]+$/.exec(bundle.fullUrl ?? '')?.[1];
  return base === undefined ? undefined : bundle.byUrl.get(base + text);
}

/** `resolve()` of expressions. Of a resource elsewhere it gives one that has a type and an id only, and leaves the rest open. */
export function resolveReference({ value, type }: PathItem, run: ReferenceScope): PathItem | undefined {
  const text = isJson(value) ? value['reference'] : value;
  const said = isJson(value) && typeof value['type'] === 'string' ? value['type'] : undefined;
  const target = typeof text === 'string' && (type === 'Reference' || typeof value === 'string') ? targetOf(text, run) : undefined; // prettier-ignore
  if (target?.resource !== undefined) return run.itemOf(target.resource);
  const found = target?.type ?? said;
  if (found === undefined || !run.tools.resourceTypes.has(found)) return undefined;
  const key = typeof text === 'string' ? text : JSON.stringify(value);
  return new PathItem({ resourceType: found, id: key }, found);
}
