import type { Services } from '../../core/services.js';
import type { Resource } from '../../fhir/resource.js';
import type { Unwanted } from '../../indexing/extract.js';
import { extractContained } from '../../indexing/contained.js';
import type { Contained } from '../../indexing/contained.js';
import type { Candidate } from '../../search/query/match.js';

/** A version, or a resource contained in it, as conditions see it. */
export interface Focus {
  readonly type: string;
  /** Its index entries have no words. */
  readonly candidate: Candidate;
  /** The same with the words of `_text` and `_content`, which take as long to read as all others together. */
  readonly worded: () => Focus;
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
  let contained: readonly Contained[] | undefined;
  const all = (): readonly Contained[] =>
    (contained ??= extractContained(resource, extract, limits.resource).contained);
  const make = (without: Unwanted | undefined): Focus => {
    let entries: Candidate['entries'] | undefined;
    const focus: Focus = {
      type: resource.resourceType,
      candidate: {
        ...{ id, lastUpdated },
        get entries() {
          return (entries ??= extract(resource, without));
        },
      },
      worded: without === undefined ? () => focus : () => (worded ??= make(undefined)),
      contained: all,
    };
    return focus;
  };
  let worded: Focus | undefined;
  return make('words');
}
