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
 * A path is written relative to the base, with `[id]` and `[vid]` where an id and a version id are, and `[type]`
 * where every resource type may: such a row stands for one row a type. The key that the dispatcher looks up is
 * `METHOD path`.
 */
export interface RouteRow {
  readonly method: Method;
  readonly path: string;
  readonly interaction: Interaction;
  /** `OperationRow.id`. */
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
  /** Id of its OperationDefinition: `Patient-everything`. Several may share a name on different types. It has no part of a vendor. */
  readonly id: string;
  /** Name without `$`. */
  readonly name: string;
  /** Canonical of its OperationDefinition; of our own, relative to the base of the server that serves it. */
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

/**
 * Condition of a need that not every request of a kind has: the part of the request that brings it. It also decides the types
 * that `each`, `any` and `filter` then mean.
 *
 * - `if-none-exist`: a create carries criteria.
 * - `conditional-reference`: content refers by a search (`Patient?identifier=…`); the types searched.
 * - `chain`: criteria reach into other types (chain with a known target, `_has`, `_filter`, sort); those types.
 * - `untyped-chain`: a chain over a reference without a type; the types that it may point to.
 * - `list`, `in`: `_list`, `_in`; the types of what they name.
 * - `include`, `revinclude`: the types included, the types including.
 * - `types-named`, `types-unnamed`: `_type` (or the type in a compartment's URL) is there, or not; the types it
 *   names, or all.
 * - `security-context`: a Binary with a securityContext; the type of that.
 * - `subscription-criteria`: a Subscription; the types of its topic's triggers.
 * - `mode-create`, `mode-update`, `mode-delete`: `mode` of `$validate`.
 * - `persist`: the caller asks to store what is made.
 * - `patient-named`: parameter `patient` of `$export`.
 * - `graphql-instance`, `graphql-list`, `graphql-reference`: fields for one resource, for a search, for the target of
 *   a reference; their types.
 * - `hfql-statement`, `hfql-introspection`: the type after FROM, or that of a view; the types whose tables are listed.
 */
export type ScopeCondition =
  | 'if-none-exist'
  | 'conditional-reference'
  | 'chain'
  | 'untyped-chain'
  | 'list'
  | 'in'
  | 'include'
  | 'revinclude'
  | 'types-named'
  | 'types-unnamed'
  | 'security-context'
  | 'subscription-criteria'
  | 'mode-create'
  | 'mode-update'
  | 'mode-delete'
  | 'persist'
  | 'patient-named'
  | 'graphql-instance'
  | 'graphql-list'
  | 'graphql-reference'
  | 'hfql-statement'
  | 'hfql-introspection';

/** One thing that a token has to cover. */
export interface ScopeNeed {
  /**
   * The types on which the letters are needed: `type` (of the URL; in a compartment search the type searched),
   * `compartment` (the type that opens the compartment), a named resource type, or types that only the request tells:
   * `each` (every type touched; one that lacks the scope refuses the request), `any` (at least one of them, else the
   * request is refused), `filter` (every type touched; what lacks the scope is left out, on a single resource: 404).
   */
  readonly on: string;
  /** All these letters together. */
  readonly letters?: ScopeLetters;
  /** Any one of these sets of letters is enough. */
  readonly anyOf?: readonly ScopeLetters[];
  /** What alone brings this need. */
  readonly when?: ScopeCondition;
  /** A scope with a constraint (`?category=…`) does not do. */
  readonly unconstrained?: true;
}

/**
 * Requirement of an interaction or an operation for the scopes of a token. An operation has several rows where its levels
 * differ; there is exactly one for each of its levels.
 */
export interface ScopeRow {
  readonly interaction: Interaction;
  /** `OperationRow.id`. */
  readonly operation?: string;
  /** Levels it holds for; absent: all. */
  readonly levels?: readonly Level[];
  /** All must hold. Empty with `open`: nothing is needed. */
  readonly needs: readonly ScopeNeed[];
  /** Administrative scope that is required as well, never implied by `system/*.cruds`. */
  readonly admin?: string;
  /** May be called without a token. */
  readonly open?: true;
  /** Any valid token will do, before the needs that the request's content brings. */
  readonly anyToken?: true;
  /** Only for the client that started the job, by a token that gives what the job was started with; to others it is unknown. */
  readonly owner?: true;
}

/** A scope of our own, beside those of SMART: granted by name only. */
export interface CustomScopeRow {
  readonly scope: string;
  /** Other custom scopes that it includes. */
  readonly covers?: readonly string[];
}

/** Letters that a scope on `*` does not give on one type; only a scope that names the type does. */
export interface WithheldLettersRow {
  readonly type: string;
  readonly letters: ScopeLetters;
}

/** Chained search parameters that count as a type's own, so that they bring no need on the types they reach. */
export interface OwnChainsRow {
  readonly type: string;
  readonly parameters: readonly string[];
}

/** The whole policy of scopes. https://hl7.org/fhir/smart-app-launch/scopes-and-launch-context.html */
export interface ScopeTable {
  readonly rows: readonly ScopeRow[];
  readonly custom: readonly CustomScopeRow[];
  readonly withheld: readonly WithheldLettersRow[];
  readonly ownChains: readonly OwnChainsRow[];
}

/** Claims of a type in the CapabilityStatement, as far as the definitions decide them. */
export interface CapabilityRow {
  readonly type: string;
  /** Canonical of its StructureDefinition. */
  readonly profile: string;
  readonly supportedProfiles?: readonly string[];
}

/** A guide that the tables were made with, or a package that one needs. */
export interface GuideRow {
  /** Of the package. */
  readonly name: string;
  readonly version: string;
  /** Canonical with version of the guide, which the server claims; absent: it is there for others only, or has none. */
  readonly guide?: string;
}
