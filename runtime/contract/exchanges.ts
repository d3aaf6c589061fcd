import type { Interaction, Method } from './rest.js';

/**
 * A body: `resource` of the type in the URL, `parameters` and `result` of an operation, `patch`, the name of a resource type, or a
 * media type.
 */
export type ExchangeBody = string;

/** One way in which a request is answered, when nothing is wrong. */
export interface ExchangeAnswer {
  readonly status: number;
  readonly text: string;
  /** One of these; absent: it has none. */
  readonly body?: readonly ExchangeBody[];
  /** It has no body for `Prefer: return=minimal`. */
  readonly isOptional?: true;
  /** Headers that it may have, besides those of every answer. */
  readonly headers?: readonly string[];
}

/** Headers and bodies of the requests and answers of some interactions, or of some operations (by `OperationRow.id`). */
export interface ExchangeRow {
  readonly interactions?: readonly string[];
  readonly operations?: readonly string[];
  /** Absent: of all resource types. */
  readonly types?: readonly string[];
  /** Absent: of all methods. */
  readonly methods?: readonly string[];
  /** Headers that the request may have; those with an exclamation mark it has to have. */
  readonly headers: readonly string[];
  readonly request?: readonly ExchangeBody[];
  readonly answers: readonly ExchangeAnswer[];
}

/** All of them, and what each header is for. */
export interface ExchangeTable {
  readonly headers: Readonly<Record<string, string>>;
  readonly rows: readonly ExchangeRow[];
}

/**
 * Finds the exchange row of a call. A row of its operation is preferred to one of all operations, and a row of its type to one
 * of all types.
 */
export function exchangeOf(
  { rows }: ExchangeTable,
  call: { readonly interaction: Interaction; readonly operation?: string; readonly method: Method },
  type: string | undefined,
): ExchangeRow | undefined {
  const { interaction, operation = '', method } = call;
  const fitting = rows.filter(
    ({ types, methods }) => (types?.includes(type ?? '') ?? true) && (methods?.includes(method) ?? true),
  );
  return (
    fitting.find(({ operations }) => operations?.includes(operation)) ??
    fitting.find(({ interactions }) => interactions?.includes(interaction))
  );
}
