/** Properties of a request that are logged. They never include a query string, a value, a body, or an id of a resource. */
export interface RequestRecord {
  readonly requestId: string;
  readonly method: string;
  /** Template of the route: `[type]/[id]`; absent: none matched. */
  readonly route?: string | undefined;
  readonly interaction?: string | undefined;
  readonly status: number;
  /** Milliseconds. */
  readonly duration: number;
  /** Why the server could not serve, where no client is at fault: our code, and technical detail. */
  readonly failure?: string | undefined;
  /** Of a request that was forbidden: the id of its client. */
  readonly client?: string | undefined;
  /** Of such a request: scopes that it lacks. */
  readonly missing?: string | undefined;
  /** Names of the query parameters. */
  readonly params?: readonly string[] | undefined;
}

/** The application log. */
export interface Log {
  request(record: RequestRecord): void;
  /** An unexpected error, with its stack: the only place where one shows. */
  defect(requestId: string, error: unknown): void;
  /** What an operator should know. */
  info(message: string): void;
  /** What an operator should mend. */
  warn(message: string): void;
}

/** A log that keeps silent. */
export const SILENT: Log = { request: () => {}, defect: () => {}, info: () => {}, warn: () => {} };
