/**
 * Rows that describe the RESTful interface: operations, routes, required scopes, capabilities.
 * Specification: https://hl7.org/fhir/R5/http.html, https://hl7.org/fhir/R5/operations.html
 */

/** Interactions by the names that https://hl7.org/fhir/R5/http.html gives them (`operation` for every `$name`). */
export type Interaction =
  | 'read'
  | 'vread'
  | 'update'
  | 'patch'
  | 'delete'
  | 'delete-history'
  | 'delete-history-version'
  | 'history-instance'
  | 'history-type'
  | 'history-system'
  | 'create'
  | 'search-type'
  | 'search-system'
  | 'search-compartment'
  | 'conditional-update'
  | 'conditional-patch'
  | 'conditional-delete'
  | 'capabilities'
  | 'bundle'
  | 'operation';

/** Methods that rows name; HEAD goes wherever GET goes and has no row. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Where an operation is called: `[base]/$x`, `[base]/T/$x`, `[base]/T/id/$x`, `[base]/T/id/_history/v/$x`. */
export type Level = 'system' | 'type' | 'instance' | 'version';

/**
 * One method on one path.
 *
 * A path is written relative to the base, with `[id]` and `[vid]` where an id and a version id stand. The key
 * that the dispatcher looks up is `METHOD path`.
 */
export interface RouteRow {
  readonly method: Method;
  readonly path: string;
  readonly interaction: Interaction;
  /** Absent on system level. */
  readonly type?: string;
  /** Name of the operation, without `$`. */
  readonly operation?: string;
}

/** A parameter of an operation. */
export interface OperationParameterRow {
  readonly name: string;
  readonly use: 'in' | 'out';
  /** Levels at which it exists; absent: all of the operation's. */
  readonly scope?: readonly Level[];
  readonly min: number;
  readonly max: '*' | number;
  /** A FHIR type, `Any`, or absent where it has parts. */
  readonly type?: string;
  /** Types that it may have where it has more than one. */
  readonly allowedTypes?: readonly string[];
  /** Search type of a parameter that is written as a search value. */
  readonly searchType?: string;
  readonly targets?: readonly string[];
  readonly binding?: { readonly strength: string; readonly valueSet: string };
  readonly documentation?: string;
  readonly parts?: readonly OperationParameterRow[];
}

/** An operation. https://hl7.org/fhir/R5/operationdefinition.html */
export interface OperationRow {
  /** Name without `$`. */
  readonly name: string;
  /** Canonical of its OperationDefinition. */
  readonly url: string;
  readonly title: string;
  readonly levels: readonly Level[];
  /** Methods it may be called with, by level where they differ. */
  readonly methods: readonly Method[];
  /** Resource types it exists on; absent: every one (and at system level none is named). */
  readonly types?: readonly string[];
  readonly affectsState: boolean;
  readonly parameters: readonly OperationParameterRow[];
}

/** Letters of a SMART scope: create, read, update, delete, search, in this order. */
export type ScopeLetters = string;

/** One thing that a token has to cover. */
export interface ScopeNeed {
  /**
   * The types on which the letters are needed: `type` (of the URL), a named resource type, or one that only the
   * request tells: `each` (every type touched; what lacks the scope refuses the request), `filter` (every type
   * touched; what lacks the scope is left out).
   */
  readonly on: string;
  /** All these letters together. */
  readonly letters?: ScopeLetters;
  /** Any one of these sets of letters is enough. */
  readonly anyOf?: readonly ScopeLetters[];
  /** A condition under which alone it is needed, by name (`if-none-exist`, `with-id`). */
  readonly when?: string;
}

/** What an interaction or an operation requires of a token. */
export interface ScopeRow {
  readonly interaction: Interaction;
  readonly operation?: string;
  readonly level?: Level;
  /** All must hold. Empty with `open`: nothing is needed. */
  readonly needs: readonly ScopeNeed[];
  /** Administrative scope that is required as well, never implied by `system/*.cruds`. */
  readonly admin?: string;
  /** May be called without a token. */
  readonly open?: true;
  /** Any valid token will do, before the needs that the request's content brings. */
  readonly anyToken?: true;
}

/** What a type claims in the CapabilityStatement, as far as the definitions decide it. */
export interface CapabilityRow {
  readonly type: string;
  /** Canonical of its StructureDefinition. */
  readonly profile: string;
  readonly supportedProfiles?: readonly string[];
}
