/** A request of a client that means no good, or knows no better. */
export interface HostileRequest {
  readonly method: string;
  /** Below the FHIR base, with a slash before. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
}

/** One row of the table: what is sent at its limits while somebody else reads. */
export interface StallCase {
  readonly name: string;
  /** Sent one after the other before anything is measured; each has to succeed. */
  readonly before?: () => Iterable<HostileRequest>;
  /** Sent all at once. */
  readonly requests: () => readonly HostileRequest[];
  /** What each is answered with. A request that is refused for another reason than expected would show nothing. */
  readonly status: number;
  /** What it is answered with on a machine of another speed, where a limit is one of time; 503 is always right: the work has been done. */
  readonly orStatus?: number;
  /** Why it may hold others for longer than is promised: such a row is reported. */
  readonly known?: string;
  /** It is sent to a server that has done nothing yet, so that what it adds to the memory is seen. */
  readonly isFresh?: true;
}

const JSON_HEADERS = { 'content-type': 'application/fhir+json' };

export function get(path: string, headers: Readonly<Record<string, string>> = {}): HostileRequest {
  return { method: 'GET', path, headers };
}

export function send(
  method: string,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = JSON_HEADERS,
): HostileRequest {
  return { method, path, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

/** Creates or replaces a resource with an id. */
export function put(resource: { readonly resourceType: string; readonly id?: string }): HostileRequest {
  const headers = { ...JSON_HEADERS, prefer: 'return=minimal' };
  return send('PUT', `/${resource.resourceType}/${resource.id ?? ''}`, resource, headers);
}

/** A search by POST. */
export function form(path: string, body: string): HostileRequest {
  return { method: 'POST', path, headers: { 'content-type': 'application/x-www-form-urlencoded' }, body };
}

/** The parameters of an operation. */
export function parameters(path: string, parameter: readonly object[]): HostileRequest {
  return send('POST', path, { resourceType: 'Parameters', ...(parameter.length > 0 && { parameter }) });
}

/** So many things, made of their numbers. */
export function many<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => make(n));
}
