import { baseKey } from './base-key.js';

/** The parts of a reference that names a resource by type and id. https://hl7.org/fhir/R5/references.html#literal */
export interface ReferenceText {
  readonly type: string;
  readonly id: string;
  readonly version?: string;
  /** Base URL before `Type/id`, without the slash, as `baseKey` has it; absent in a relative reference. */
  readonly base?: string;
}

const ID = '[A-Za-z0-9.-]{1,64}';
/** A base is a URL with a host: `http://x`, not `x`, not `http:/`. */
const REFERENCE = new RegExp(`^(?:([^:]+://[^/][^]*)/)?([A-Z][A-Za-z]*)/(${ID})(?:/_history/(${ID}))?$`);

/**
 * Reads `Type/id`, `Type/id/_history/v` and absolute URLs ending so; undefined for everything else (`urn:…`, `#…`,
 * canonicals, searches). Whether the type exists is not asked: a word that begins with a capital counts as one.
 */
export function readReference(text: string): ReferenceText | undefined {
  const [, base, type, id, version] = REFERENCE.exec(text) ?? [];
  if (type === undefined || id === undefined) return undefined;
  const own = version === undefined ? { type, id } : { type, id, version };
  return base === undefined ? own : { ...own, base: baseKey(base) };
}
