import type { Interaction, Tables } from '../contract/index.js';
import type { Resource } from '../fhir/resource.js';
import type { IndexEntry } from '../search/entry.js';
import type { Store } from '../store/store.js';
import type { Call, Reply } from './call.js';

/** The tables that interactions read. */
export type ServiceTables = Pick<Tables, 'origin' | 'resourceTypes' | 'routes' | 'capabilities'>;

/** What interactions work with. */
export interface Services {
  readonly tables: ServiceTables;
  readonly store: Store;
  /** Index entries of a resource. */
  readonly extract: (resource: Resource) => readonly IndexEntry[];
  /** Interactions that are wired: the CapabilityStatement and `Allow` name no others. */
  readonly wired: ReadonlySet<Interaction>;
  /** URL of the FHIR base, for the CapabilityStatement, where it is configured. */
  readonly baseUrl?: string;
}

/** One interaction. @throws FhirError for every failure that a client has to be told */
export type InteractionHandler = (call: Call, services: Services) => Promise<Reply>;
