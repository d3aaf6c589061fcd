/** Limits of one query. A client that needs more sends several queries, or reads a connection in pages. */
export const QUERY_LIMITS = {
  /** Tokens of a document. */
  tokens: 20_000,
  /** Fields with those of fragments, each as often as it is spread. */
  fields: 2000,
  /** Fields within each other. */
  depth: 25,
  /** Fields with an alias. */
  aliases: 500,
  /** Resources that a query is expected to need, by `estimateCost`. */
  cost: 100_000,
  /** Resources that a query reads. */
  resources: 10_000,
  /** Characters of these. */
  characters: 64 * 2 ** 20,
  /** Matches of one list. */
  list: 5000,
  /** Values in an answer. */
  values: 1_000_000,
  /** Values that all its FHIRPath looks at, on all resources together. */
  fhirpathValues: 20_000_000,
  /** Errors in an answer. */
  errors: 100,
  /** Milliseconds for all look-ups and for writing the answer, where the configuration has none for searches. */
  time: 30_000,
} as const;
