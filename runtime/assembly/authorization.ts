import type { ResumePrincipal, RightsOf } from '../auth/clients/resume-principal.js';
import type { Access } from '../auth/scopes/access.js';
import type { ScopeTables } from '../auth/scopes/create-scopes.js';
import type { AuthEvents } from '../auth/server/events.js';
import type { TokenVerifier } from '../auth/server/token-verifier.js';
import type { Config } from '../config/settings.js';
import type { AuthRoutes } from '../http/auth-routes.js';
import type { OwnBases } from '../path/own-bases.js';
import type { Zone } from '../indexing/values/zone.js';
import type { AtomicMaps } from '../store/store.js';

/** Authorization of one server: it checks tokens, and decides what clients may read and write. */
export interface Authorization {
  /** Checks tokens. */
  readonly verifier: TokenVerifier;
  /** What canonical scopes give. */
  access(canonical: string, tables?: ScopeTables): Access;
  readonly routes: AuthRoutes;
  /** On whose behalf jobs go on. */
  readonly principalOf: ResumePrincipal;
  /** With what rights notifications are made and sent. */
  readonly rightsOf: RightsOf;
  /** Signs a notification by a detached JWS, with a key that is published; absent: the server has none. */
  readonly sign?: (body: string) => Promise<string>;
}

/** Parts that `Authorization` is made of. */
export interface AuthorizationParts {
  readonly config: Config;
  readonly tables: ScopeTables;
  /** Those that hold at the moment; absent: always `tables`. */
  readonly tablesNow?: () => ScopeTables;
  readonly zone: Zone;
  /** By which references lead to resources here. */
  readonly own: OwnBases;
  readonly maps: AtomicMaps;
  readonly events: AuthEvents;
}

/**
 * @param root under which clients know the server, without a trailing slash: known once it listens
 * @param fhirPath where FHIR is below it
 */
export type PreparedAuthorization = (root: string, fhirPath: string) => Authorization;
