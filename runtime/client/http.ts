import type { AnyResource, OperationOutcome } from '../../generated/types/index.js';

/** One of the errors of GraphQL. https://spec.graphql.org/October2021/#sec-Errors */
export interface GraphqlError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
}

/** A request that the server refused. */
export class FhirClientError extends Error {
  constructor(
    /** 200 where the answer itself says what is wrong: an HFQL statement. */
    readonly status: number,
    /** What the server said; undefined: the answer was no OperationOutcome. */
    readonly outcome: OperationOutcome | undefined,
    text: string,
    /** Headers of the answer: `Retry-After`, `WWW-Authenticate`. */
    readonly headers: Headers = new Headers(),
    /** The faults of a GraphQL query. */
    readonly errors?: readonly GraphqlError[],
  ) {
    super(text);
    this.name = 'FhirClientError';
  }
}

/** Options that every call takes besides its own arguments. */
export interface RequestOptions {
  /** Ends the call: its promise is rejected with the reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds after which a request is given up, with a `TimeoutError`; in place of that of the client. */
  readonly timeout?: number | undefined;
  /** Sent besides those of the client, and before them: `{ 'X-Request-Id': '7' }`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** How a client reaches its server. */
export interface ClientOptions {
  /** URL of the FHIR base: `https://example.org/fhir`. */
  readonly base: string;
  /**
   * A bearer token, or what gives a valid one before each request (`backendServices`); absent: the server wants none. It is called
   * with true where the server refused the last one with 401, once for each request.
   */
  readonly token?: string | ((isRefused?: boolean) => Promise<string>);
  /** In place of the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds after which a request is given up; absent: never. */
  readonly timeout?: number;
  /** How often a request is sent again that may be repeated, where the answer is 429 or 503 with `Retry-After`: 3 unless said otherwise. */
  readonly retries?: number;
}

/** One request below the base. */
export interface ClientRequest extends RequestOptions {
  /** `GET` unless said otherwise. */
  readonly method?: string;
  /** Without a slash at the front: `Patient/1`. A URL below the base is taken too, such as a link of an answer. */
  readonly path: string;
  readonly query?: URLSearchParams | undefined;
  /** Texts, bytes and forms are sent as they are; anything else is sent as JSON. */
  readonly body?: unknown;
  /** The media type of the body: `application/fhir+json` unless said otherwise, or what `fetch` makes of a form. */
  readonly contentType?: string | undefined;
  readonly accept?: string;
  /** It may be repeated although its method does not say so: a search by POST. */
  readonly isSafe?: boolean;
}

/** Answer to a request. */
export interface ClientAnswer<T> {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined: there was none, or it was no JSON. */
  readonly body: T | undefined;
  /** The body as it came. */
  readonly text: string;
}

const JSON_TYPE = 'application/fhir+json';

/** Methods whose requests may be repeated. https://www.rfc-editor.org/rfc/rfc9110#name-idempotent-methods */
const IDEMPOTENT = /^(?:GET|HEAD|OPTIONS|PUT|DELETE)$/;

const RETRIES = 3;

/** A server that wants a longer pause is not waited for, in milliseconds. */
const LONGEST_PAUSE = 120_000;

/** Sends requests with the token. Redirects are refused, so that the token goes to this server alone. */
export class Connection {
  readonly base: string;

  constructor(private readonly options: ClientOptions) {
    this.base = options.base.replace(/\/+$/, '');
  }

  /** @throws FhirClientError where the status is 400 or more */
  async send<T>(request: ClientRequest): Promise<ClientAnswer<T>> {
    const response = await this.open(request);
    const text = await response.text();
    const body = isJson(response) && text !== '' ? (JSON.parse(text) as T) : undefined;
    return { status: response.status, headers: response.headers, body, text };
  }

  /**
   * Sends a request, again where that helps. The body of the answer is not read.
   *
   * @throws FhirClientError where the status is 400 or more
   * @throws Error where the URL is not below the base: the token is for this server
   */
  async open(request: ClientRequest): Promise<Response> {
    const { method = 'GET', signal } = request;
    const { token, retries = RETRIES } = this.options;
    const url = this.urlOf(request);
    let isRefused = false;
    for (let attempt = 0; ;) {
      const bearer = typeof token === 'function' ? await token(isRefused) : token;
      const response = await this.attempt(url, method, bearer, request);
      if (response.status < 400) return response;
      if (response.status === 401 && typeof token === 'function' && !isRefused) {
        isRefused = true;
      } else {
        const pause = request.isSafe === true || IDEMPOTENT.test(method) ? pauseOf(response) : undefined;
        if (pause === undefined || attempt++ >= retries) throw await refusal(response);
        await sleep(pause, signal);
      }
      await response.body?.cancel();
    }
  }

  /** The length of its URL tells whether a search is sent by POST. */
  urlOf({ path, query }: ClientRequest): string {
    const { base } = this;
    const text = query?.toString() ?? '';
    if (!/^[a-z][a-z\d+.-]*:/i.test(path)) return `${base}${path === '' ? '' : `/${path}`}${text && `?${text}`}`;
    const rest = path.startsWith(base) ? path.slice(base.length) : '-';
    // A path of dots would lead elsewhere on this server.
    if (!/^(?:$|[/?])/.test(rest) || /(?:^|\/)(?:\.|%2e){1,2}(?:[/?#]|$)/i.test(rest)) {
      throw new Error(`the link ${path} does not lead below ${base}`);
    }
    return path;
  }

  private attempt(url: string, method: string, bearer: string | undefined, request: ClientRequest): Promise<Response> {
    const { fetch: send = fetch, headers, timeout } = this.options;
    const { body, contentType, accept = JSON_TYPE } = request;
    const isSent = typeof body === 'string' || isBinary(body);
    const type = contentType ?? (body instanceof URLSearchParams ? undefined : JSON_TYPE);
    const time = request.timeout ?? timeout;
    const signals = [request.signal, time === undefined ? undefined : AbortSignal.timeout(time)].filter(
      (each) => each !== undefined,
    );
    return send(url, {
      method,
      redirect: 'error',
      headers: {
        Accept: accept,
        ...(body !== undefined && type !== undefined && { 'Content-Type': type }),
        ...headers,
        ...request.headers,
        ...(bearer !== undefined && { Authorization: `Bearer ${bearer}` }),
      },
      ...(body !== undefined && { body: isSent ? (body as NonNullable<RequestInit['body']>) : JSON.stringify(body) }),
      ...(signals.length > 0 && { signal: signals.length === 1 ? signals[0]! : AbortSignal.any(signals) }),
    });
  }
}

function isBinary(body: unknown): boolean {
  return (
    body instanceof Uint8Array ||
    body instanceof ArrayBuffer ||
    body instanceof URLSearchParams ||
    (typeof Blob !== 'undefined' && body instanceof Blob)
  );
}

function isJson(response: Response): boolean {
  return /[/+]json\b/.test(response.headers.get('content-type') ?? '');
}

/** How long the server wants to be left alone, in milliseconds; undefined: the request is not to be repeated. */
function pauseOf({ status, headers }: Response): number | undefined {
  const text = headers.get('retry-after');
  if ((status !== 429 && status !== 503) || text === null) return undefined;
  const pause = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return pause <= LONGEST_PAUSE ? Math.max(0, pause) : undefined;
}

/** Waits. @throws the reason of the signal */
export function sleep(time: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      if (signal?.aborted === true) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(end, time);
    signal?.addEventListener('abort', end);
    if (signal?.aborted === true) end();
  });
}

async function refusal(response: Response): Promise<FhirClientError> {
  const { status, headers } = response;
  const said = await response.text();
  let body: AnyResource | { resourceType?: undefined; errors?: GraphqlError[] } | undefined;
  try {
    body = isJson(response) ? (JSON.parse(said) as AnyResource) : undefined;
  } catch {
    // What is no JSON has no outcome.
  }
  const outcome = body?.resourceType === 'OperationOutcome' ? body : undefined;
  const errors = body?.resourceType === undefined ? body?.errors : undefined;
  const texts = outcome?.issue?.map(({ details, diagnostics }) => details?.text ?? diagnostics ?? '') ?? [];
  const text = texts.filter((each) => each !== '').join('; ') || (errors?.[0]?.message ?? '');
  const message = text === '' ? `the server answered ${status}` : `${status}: ${text}`;
  return new FhirClientError(status, outcome, message, headers, errors);
}
