/** Transactions of exchange guides whose audit events have a shape of their own. */
export type ExchangeTransaction =
  'ITI-65' | 'ITI-66' | 'ITI-67' | 'ITI-68' | 'ITI-78' | 'ITI-105' | 'ITI-106' | 'ITI-119';

/** A CapabilityStatement that an actor follows. */
export interface ActorClaim {
  readonly canonical: string;
  /** A search parameter without which the server does not do all that the statement asks for. */
  readonly needs?: { readonly type: string; readonly parameter: string };
}

/** Consequences of the actors of exchange guides that the server is. */
export interface Actors {
  /** The CapabilityStatements that the server follows. */
  readonly instantiates: readonly ActorClaim[];
  /** Canonicals of the guides. */
  readonly guides: readonly string[];
  readonly transactions: ReadonlySet<ExchangeTransaction>;
  /** Whether a search for clinical data has to name its patient. */
  readonly needsPatient: boolean;
}

/** The server is no actor. */
export const NO_ACTORS: Actors = { instantiates: [], guides: [], transactions: new Set(), needsPatient: false };
