/** Transactions of exchange guides whose audit events have a shape of their own. */
export type ExchangeTransaction =
  'ITI-65' | 'ITI-66' | 'ITI-67' | 'ITI-68' | 'ITI-78' | 'ITI-105' | 'ITI-106' | 'ITI-119';

/** Consequences of the actors of exchange guides that the server is. */
export interface Actors {
  /** Canonicals of the CapabilityStatements that the server follows. */
  readonly instantiates: readonly string[];
  /** Canonicals of the guides. */
  readonly guides: readonly string[];
  readonly transactions: ReadonlySet<ExchangeTransaction>;
  /** Whether a search for clinical data has to name its patient. */
  readonly needsPatient: boolean;
}

/** The server is no actor. */
export const NO_ACTORS: Actors = { instantiates: [], guides: [], transactions: new Set(), needsPatient: false };
