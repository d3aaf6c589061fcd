import type { ProfileRow } from '../contract/profiles.js';
import type { FhirTypes } from '../validate/profiles/fhir-types.js';
import type { Soon, ValidationOptions } from '../validate/profiles/profile-deps.js';
import type { ScopeRows } from '../auth/access/scope-rows.js';
import type { Interaction, Tables } from '../contract/index.js';
import type { Limits } from '../fhir/limits.js';
import type { Resource } from '../fhir/resource.js';
import type { FormatName } from '../format/negotiate.js';
import type { IndexMaker } from '../indexing/index-record.js';
import type { IndexEntry } from '../indexing/entry.js';
import type { Unwanted } from '../indexing/extract.js';
import type { Zone } from '../indexing/values/zone.js';
import type { Store } from '../store/store.js';
import type { Fault } from '../validate/fault.js';
import type { RuleChecker } from '../validate/rules/create-rule-checker.js';
import type { Call, Reply } from './call.js';
import type { Actors } from './actors.js';
import type { CallAudit } from './call-audit.js';
import type { GuideClaims } from './definitions/guide-claims.js';
import type { IndexStatus } from './definitions/index-status.js';
import type { OwnBases } from '../path/own-bases.js';
import type { Jobs } from './jobs.js';
import type { ShippedResources } from './shipped/shipped-resources.js';
import type { LargeTexts } from './write/large-bodies.js';
import type { AfterRead } from './read-hook.js';
import type { Integrity } from './references/integrity.js';
import type { BeforeWrite } from './write/write-hooks.js';
import type { ValidationMode } from './write/validation-mode.js';
import type { PageLinks } from './search-services/page-links/page-link.js';
import type { Patchers } from '../patch/apply/patchers.js';
import type { CodeReader, FoundCode } from './search-services/code-finder.js';
import type { CodeSet } from '../search/query/query.js';
import type { SearchSettings } from './search-services/search-settings.js';

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
  | 'exchanges'
  | 'operations'
  | 'primitives'
  | 'codes'
  | 'guides'
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

/** The definitions in effect and the functions made from them. Stored SearchParameters replace the group as a whole. */
export interface DefinitionServices {
  readonly tables: ServiceTables;
  /** Index entries of a resource. */
  readonly extract: (resource: Resource, without?: Unwanted) => readonly IndexEntry[];
  /** Adapts index entries that a worker thread made to the definitions in effect now. */
  readonly refit: (resource: Resource, entries: readonly IndexEntry[]) => readonly IndexEntry[];
  /** The faults of a resource's structure. */
  readonly validate: (resource: Resource) => readonly Fault[];
  /** Whether a SearchParameter comes into effect as soon as it is written. */
  readonly takesEffect: (resource: Resource) => boolean;
  /** Whether the stored index entries were made by the definitions in effect. */
  readonly indexStatus: IndexStatus;
  /** URLs of active SearchParameters that are not in effect. */
  readonly notInEffect: readonly string[];
  /** What is claimed because of installed packages. */
  readonly guides: GuideClaims;
}

/**
 * The codes that a search means by a value set, or by what is above or below a code, itself included.
 *
 * @throws FhirError `parameter-invalid` for what is unknown, `value-set-invalid`, `expansion-too-costly`
 */
export type CodeFinder = (set: CodeSet, reader: CodeReader, services: LookupServices) => Promise<readonly FoundCode[]>;

/** A code system that the server can answer questions about. */
export interface KnownSystem {
  readonly uri: string;
  readonly version?: string;
  /** https://hl7.org/fhir/R5/valueset-codesystem-content-mode.html */
  readonly content: string;
  /** Whether it has a hierarchy. */
  readonly subsumption: boolean;
}

/** A set of search parameters, and what makes index entries by it. */
export interface DefinitionServicesNow {
  readonly maker: IndexMaker;
}

/** The search parameters in effect. */
export interface DefinitionsNow {
  /** The same object as long as they are the same. */
  current(): DefinitionServicesNow;
  /**
   * Waits until all processes that write do so by a set.
   *
   * @param of absent: the current one
   * @returns false: it is not the current one any more
   */
  agreed(signal?: AbortSignal, of?: DefinitionServicesNow): Promise<boolean>;
}

/** Finds the profiles that resources are validated by. */
export interface ProfileServices {
  readonly types: FhirTypes;
  /** The profile of a canonical; undefined: there is none here. */
  readonly profile: (canonical: string) => Soon<ProfileRow | undefined>;
  /** Why the stored definition of a canonical cannot be used that `profile` did not find; undefined: none is stored. */
  readonly whyUnusable?: (canonical: string) => string | undefined;
  /** Canonicals that the resources of a type have to conform to, by type: the setting `validation.profiles`. */
  readonly required: ReadonlyMap<string, readonly string[]>;
  /** Finds the codes for which a write is refused: the setting `validation.codes`. Absent: it is refused for none. */
  readonly refusedCodes?: CodeRefusals;
}

/**
 * The codes of a resource that their code systems, as far as the server knows these completely and the token may read them, do not have.
 * https://hl7.org/fhir/R5/terminologies.html#code
 */
export type CodeRefusals = (
  resource: Resource,
  call: Pick<Call, 'principal' | 'signal'>,
  services: LookupServices,
) => Promise<readonly Fault[]>;

/** Services that looking up codes and profiles reads. */
export type LookupServices = Pick<Services, 'store' | 'tables' | 'indexStatus' | 'largeTexts' | 'own'>;

/** The parts of a call that validation by profiles reads. */
export type ValidatingCall = Pick<Call, 'principal' | 'signal' | 'together'>;

/** Services that validation by profiles works with. */
export type ValidatingServices = LookupServices & Pick<Services, 'extract'> & { readonly profiles: ProfileServices };

/**
 * Validates a resource of right structure by profiles; what is contained in it, or an entry of the Bundle that it is, by those that it
 * claims in `meta.profile`. Codes are looked up in the value sets that the token may read, and targets of references among the
 * resources that it may read. https://hl7.org/fhir/R5/profiling.html
 *
 * @param canonicals of the profiles that the resource itself has to conform to
 * @param how `hasAllValueSets`: value sets are looked up with access of the server's own
 */
export type ProfileValidator = (
  resource: Resource,
  canonicals: readonly string[],
  call: ValidatingCall,
  services: ValidatingServices,
  how?: ValidationOptions & { readonly hasAllValueSets?: true },
) => Promise<readonly Fault[]>;

/** Where interactions read and write, and who records it. */
export interface DataServices {
  readonly store: Store;
  /** Worker threads for large JSON texts; undefined: they are parsed on the event loop. */
  readonly largeTexts: LargeTexts | undefined;
  readonly pages: PageLinks;
  /** The cursors of change feeds. */
  readonly feeds: PageLinks;
  readonly audit: CallAudit;
  /** The search parameters in effect, with those of the store; undefined: there are only those of the tables. */
  readonly definitions: DefinitionsNow | undefined;
  /** Checks topics and Subscriptions that are written; undefined: this server delivers nothing, and stores them unchecked. */
  readonly subscriptions: SubscriptionChecks | undefined;
  /** Work that goes on after an answer; undefined: this server has none, and refuses what needs it. */
  readonly jobs: Jobs | undefined;
  /** The profiles of the tables and of the store; undefined: this server knows none. */
  readonly profiles: ProfileServices | undefined;
  /** The definitions of the FHIR package; undefined: clients see stored resources only. */
  readonly shipped: ShippedResources | undefined;
  readonly validateByProfiles: ProfileValidator;
  /** Looks up the codes that a search means. */
  readonly findCodes: CodeFinder;
  /** The code systems that every client may know of. */
  readonly knownSystems: () => readonly KnownSystem[];
  /** Hooks of the application around the server; undefined: there are none. */
  readonly beforeWrite: BeforeWrite | undefined;
  /** The same for reads by id. */
  readonly afterRead: AfterRead | undefined;
  /** Aborts when the server is about to end: who waits for something to happen answers at once. */
  readonly draining: AbortSignal;
}

/**
 * Opens a file of another server.
 *
 * @throws FhirError `parameter-invalid` where the configuration does not allow its URL
 * @throws Error where the server does not answer
 */
export interface FetchFile {
  (url: string, signal: AbortSignal, headers?: Readonly<Record<string, string>>): Promise<AsyncIterable<Uint8Array>>;
  /** Why a URL is not allowed; undefined: it is, as far as the URL tells. */
  readonly fault: (url: string) => string | undefined;
}

/** The parts of a call that checks of topics and Subscriptions read. */
export type CheckedCall = Pick<Call, 'principal' | 'signal'> & { readonly prefer?: Call['prefer'] };

/** A write to be checked. */
export interface CheckedWrite {
  readonly id: string;
  /** The content before; undefined: none was current. */
  readonly before: Resource | undefined;
  /** The version before, which may be a deletion; 0: there is none. */
  readonly version: number;
}

/** Checks the writes of topics and Subscriptions, so that what is accepted fires. https://hl7.org/fhir/R5/subscriptions.html */
export interface SubscriptionChecks {
  /** Types whose writes are checked. */
  readonly types: ReadonlySet<string>;
  /**
   * @returns the content to store: the status of a Subscription may be another
   * @throws FhirError `topic-refused`, `topic-in-use`, `subscription-refused`, `subscriptions-too-many`, `scope-missing`
   */
  checkPut(content: Resource, write: CheckedWrite, call: CheckedCall, services: Services): Promise<Resource>;
  /** @throws FhirError `topic-in-use` */
  checkDelete(type: string, id: string): Promise<void>;
}

/** Types that a server publishes, and how often. */
export interface PublishSettings {
  readonly types: readonly string[];
  /** How often changes are added, in milliseconds. */
  readonly every: number;
}

/** Services that the configuration decides. */
export interface SettingServices {
  /** How much of a resource is checked before it is written. */
  readonly validation: ValidationMode;
  /** The rules beyond structure: they follow from the tables alone. */
  readonly rules: RuleChecker;
  readonly limits: Limits;
  readonly search: SearchSettings;
  /** Time zone of dates without an offset. */
  readonly zone: Zone;
  /** By which references lead to resources here. */
  readonly own: OwnBases;
  /** What references have to lead to; undefined: every reference is taken. */
  readonly integrity: Integrity | undefined;
  /** Opens a file of another server for an import; undefined: the configuration allows no server. */
  readonly fetchFile: FetchFile | undefined;
  /** Types that `$bulk-publish` gives, and how often; undefined: none. */
  readonly publish: PublishSettings | undefined;
  /** Whether clients may write nothing. */
  readonly isReadOnly: boolean;
  /** Whether a conditional delete may remove several resources. */
  readonly deletesMultiple: boolean;
  /** How documents are published. `documents`: a DocumentReference with its document is taken apart; `sourceId`: the OID of the source; `actors`: what the server is of exchange guides. */
  readonly exchange: {
    readonly documents: boolean;
    readonly sourceId?: string | undefined;
    readonly actors: Actors;
  };
  /** Configured URL of the FHIR base; undefined: it follows from each request's `Host`. */
  readonly baseUrl: string | undefined;
  /** What `/metadata` says of authorization; undefined: the server has none. `cors`: pages of other origins may call; `issuer`: of another server, from which tokens come. */
  readonly authorization: { readonly cors: boolean; readonly issuer?: string } | undefined;
}

/** Capabilities of the server: the router, `Allow`, `/metadata` and the scope check read them. */
export interface CapabilityServices {
  /** Settings that switch interactions on, and operations by their id. */
  readonly switches: ReadonlyMap<string, string>;
  /** What interactions require of a token. */
  readonly scopeRows: ScopeRows;
  /** Interactions that are wired. */
  readonly wired: ReadonlySet<Interaction>;
  /** The operations that are wired, by `OperationRow.id`. */
  readonly operations: ReadonlyMap<string, InteractionHandler>;
  /** Executes entries of Bundles. */
  readonly entries: EntryHandling;
  /** Formats that are read and written. */
  readonly formats: readonly FormatName[];
  /** Formats of patches that are accepted. */
  readonly patchers: Patchers;
  /** Cuts a resource down to a view, tag included; undefined: `_summary` and `_elements` are not supported. */
  readonly subset: ((resource: Resource, view: View) => Resource) | undefined;
}

/** Services that interactions and operations work with. No member is optional: `createServices` supplies each default. */
export interface Services extends DefinitionServices, DataServices, SettingServices, CapabilityServices {}

/** One interaction. @throws FhirError for every failure that a client has to know */
export type InteractionHandler = (call: Call, services: Services) => Promise<Reply>;
