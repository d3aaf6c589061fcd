import type { Services } from '../../core/services.js';
import type { Resource } from '../../fhir/resource.js';
import { extractContained } from '../../search/contained.js';
import type { Contained } from '../../search/contained.js';
import type { Candidate } from '../../search/query/match.js';

/** A version, or a resource contained in it, as conditions see it. */
export interface Focus {
  readonly type: string;
  readonly candidate: Candidate;
  /** Resources within it, put together when first needed. */
  readonly contained: () => readonly Contained[];
}

/** The services that make a focus. */
export type FocusServices = Pick<Services, 'extract' | 'limits'>;

/** A version as conditions see it. Its index entries are made when first needed. */
export function focusOf(
  { id, lastUpdated }: { readonly id: string; readonly lastUpdated: number },
  resource: Resource,
  { extract, limits }: FocusServices,
): Focus {
  let entries: Candidate['entries'] | undefined;
  let contained: readonly Contained[] | undefined;
  return {
    type: resource.resourceType,
    candidate: {
      ...{ id, lastUpdated },
      get entries() {
        return (entries ??= extract(resource));
      },
    },
    contained: () => (contained ??= extractContained(resource, extract, limits.resource).contained),
  };
}
