import type { ScopeRows } from '../auth/access/scope-rows.js';
import type { Interaction, Tables } from '../contract/index.js';
import type { Limits } from '../fhir/limits.js';
import type { Resource } from '../fhir/resource.js';
import type { FormatName } from '../format/negotiate.js';
import type { IndexEntry } from '../search/entry.js';
import type { Unwanted } from '../search/extract.js';
import type { Zone } from '../search/values/zone.js';
import type { Store } from '../store/store.js';
import type { Fault } from '../validate/fault.js';
import type { Call, Reply } from './call.js';
import type { CallAudit } from './call-audit.js';
import type { IndexStatus } from './definitions/index-status.js';
import type { LargeTexts } from './write/large-bodies.js';
import type { PageLinks } from './search/page-link.js';
import type { Patchers } from './patch/patchers.js';
import type { SearchSettings } from './search/search-settings.js';

/** The tables that interactions read. */
export type ServiceTables = Pick<
  Tables,
  | 'origin'
  | 'resourceTypes'
  | 'routes'
  | 'capabilities'
  | 'search'
  | 'compartments'
  | 'types'
  | 'scopes'
  | 'operations'
  | 'primitives'
>;

/** The part of a resource that a client wants. https://hl7.org/fhir/R5/search.html#summary */
export interface View {
  readonly summary?: 'true' | 'text' | 'data';
  /** Names of elements on the first level. */
  readonly elements?: readonly string[];
}

/** Where an entry of a Bundle leads. */
export interface EntryRoute extends Pick<
  Call,
  'operation' | 'level' | 'type' | 'id' | 'versionId' | 'member' | 'params'
> {
  readonly interaction: Interaction;
}

/** How entries of a Bundle are executed: as requests are. */
export interface EntryHandling {
  /**
   * The interaction behind a method and a URL.
   *
   * @param url path and query, below the base, with a slash before
   * @throws FhirError where there is none
   */
  route(method: string, url: string): EntryRoute;
  readonly handle: InteractionHandler;
}

/** What interactions work with. */
export interface Services {
  readonly tables: ServiceTables;
  /** What interactions require of a token. */
  readonly scopeRows: ScopeRows;
  readonly store: Store;
  /** Index entries of a resource. */
  readonly extract: (resource: Resource, without?: Unwanted) => readonly IndexEntry[];
  /** The entries of a resource as today's definitions have them, where others made them; absent: there is but one way. */
  readonly refit?: (resource: Resource, entries: readonly IndexEntry[]) => readonly IndexEntry[];
  /** What is wrong with a resource; absent: nothing is looked at but its outermost form. */
  readonly validate?: (resource: Resource) => readonly Fault[];
  /** Whether a SearchParameter is to be in effect as soon as it is written; absent: none ever is. */
  readonly takesEffect?: (resource: Resource) => boolean;
  /** Works on large JSON texts of ours elsewhere, so that nobody waits; absent: that is done here. */
  readonly largeTexts?: LargeTexts;
  /** Cuts a resource down to a view, tag included; absent: `_summary` and `_elements` are not supported. */
  readonly subset?: (resource: Resource, view: View) => Resource;
  readonly pages: PageLinks;
  /** Absent: Bundles are not executed. */
  readonly entries?: EntryHandling;
  readonly limits: Limits;
  /** Zone of dates without an offset; absent: UTC. */
  readonly zone?: Zone;
  /** Interactions that are wired: the CapabilityStatement and `Allow` name no others. */
  readonly wired: ReadonlySet<Interaction>;
  /** The operations that are wired, by `OperationRow.id`: routes, `Allow` and the CapabilityStatement list no others. */
  readonly operations: ReadonlyMap<string, InteractionHandler>;
  /** Formats that are read and written. */
  readonly formats: readonly FormatName[];
  /** URL of the FHIR base, for the CapabilityStatement, where it is configured. */
  readonly baseUrl?: string;
  /** What is told of authorization; absent: there is none. `cors`: some pages of other origins may call. */
  readonly authorization?: { readonly cors: boolean };
  /** Whether the index entries in the store are those of today's definitions; absent: they are. */
  readonly indexStatus?: IndexStatus;
  /** URLs of active SearchParameters that are not in effect; absent: there are none. */
  readonly notInEffect?: readonly string[];
  /** Formats of patches that are taken; absent: JSON Patch. */
  readonly patchers?: Patchers;
  /** Whether a conditional delete may remove several resources; absent: only one. */
  readonly deletesMultiple?: boolean;
  /** What searches do where the client does not say; absent: as `DEFAULT_SEARCH` has it. */
  readonly search?: Partial<SearchSettings>;
  /** Takes down what calls came to; absent: nobody does. */
  readonly audit?: CallAudit;
}

/** One interaction. @throws FhirError for every failure that a client has to be told */
export type InteractionHandler = (call: Call, services: Services) => Promise<Reply>;
