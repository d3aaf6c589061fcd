import type { AnyResource, OperationOutcome } from '../../generated/types/index.js';

/** A request that the server refused. */
export class FhirClientError extends Error {
  constructor(
    readonly status: number,
    /** What the server said; undefined: the answer was no OperationOutcome. */
    readonly outcome: OperationOutcome | undefined,
    text: string,
  ) {
    super(text);
    this.name = 'FhirClientError';
  }
}

/** How a client reaches its server. */
export interface ClientOptions {
  /** URL of the FHIR base: `https://example.org/fhir`. */
  readonly base: string;
  /** A bearer token, or what gives a valid one before each request (`backendServices`); absent: the server wants none. */
  readonly token?: string | (() => Promise<string>);
  /** In place of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** One request below the base. */
export interface ClientRequest {
  readonly method: string;
  /** Without a slash at the front: `Patient/1`. */
  readonly path: string;
  readonly query?: URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Answer to a request. */
export interface ClientAnswer<T> {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined: there was no body. */
  readonly body: T | undefined;
}

const JSON_TYPE = 'application/fhir+json';

/** Sends requests with the token. Redirects are refused, so that the token goes to this server alone. */
export class Connection {
  readonly base: string;

  constructor(private readonly options: ClientOptions) {
    this.base = options.base.replace(/\/+$/, '');
  }

  /** @throws FhirClientError where the status is 400 or more */
  async send<T>(request: ClientRequest): Promise<ClientAnswer<T>> {
    const { method, path, query, body, signal } = request;
    const text = query?.toString() ?? '';
    return this.fetch<T>(`${this.base}${path === '' ? '' : `/${path}`}${text === '' ? '' : `?${text}`}`, {
      method,
      headers: {
        Accept: JSON_TYPE,
        ...(body !== undefined && { 'Content-Type': request.contentType ?? JSON_TYPE }),
        ...request.headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    });
  }

  /** Follows a link of the server. @throws Error where it leads to another server: the token is for this one */
  async follow<T>(url: string, signal?: AbortSignal): Promise<T> {
    if (url !== this.base && !url.startsWith(`${this.base}/`) && !url.startsWith(`${this.base}?`)) {
      throw new Error(`the link ${url} does not lead below ${this.base}`);
    }
    const init = { method: 'GET', headers: { Accept: JSON_TYPE }, ...(signal !== undefined && { signal }) };
    return (await this.fetch<T>(url, init)).body as T;
  }

  private async fetch<T>(
    url: string,
    init: RequestInit & { headers: Record<string, string> },
  ): Promise<ClientAnswer<T>> {
    const { token, fetch: send = fetch } = this.options;
    const bearer = typeof token === 'function' ? await token() : token;
    const headers = { ...init.headers, ...(bearer !== undefined && { Authorization: `Bearer ${bearer}` }) };
    const response = await send(url, { ...init, headers, redirect: 'error' });
    const text = await response.text();
    const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '');
    const body = isJson && text !== '' ? (JSON.parse(text) as T) : undefined;
    if (response.status >= 400) throw refusal(response.status, body as AnyResource | undefined);
    return { status: response.status, headers: response.headers, body };
  }
}

function refusal(status: number, body: AnyResource | undefined): FhirClientError {
  const outcome = body?.resourceType === 'OperationOutcome' ? body : undefined;
  const texts = outcome?.issue?.map(({ details, diagnostics }) => details?.text ?? diagnostics ?? '') ?? [];
  const text = texts.filter((each) => each !== '').join('; ');
  return new FhirClientError(status, outcome, text === '' ? `the server answered ${status}` : `${status}: ${text}`);
}
