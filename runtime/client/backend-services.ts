import { importJWK, SignJWT, type JWK } from 'jose';

/** A client that is registered at the server. */
export interface BackendServicesOptions {
  /** URL of the FHIR base, whose discovery document names the token endpoint. */
  readonly base: string;
  readonly clientId: string;
  /** Private key, with `kid` and `alg`, as `kiln client keygen` makes it. */
  readonly key: JWK;
  /** `system/Patient.rs system/Observation.rs` */
  readonly scope: string;
  readonly fetch?: typeof fetch;
}

/** A token is renewed so long before it runs out, in milliseconds. */
const MARGIN = 30_000;

/** Life of an assertion, in seconds; the profile allows five minutes. */
const ASSERTION = 60;

/**
 * Gives tokens by SMART Backend Services: one is kept until it runs out, and requests at the same time share one.
 * https://hl7.org/fhir/smart-app-launch/backend-services.html
 *
 * @returns a function for `ClientOptions.token`
 */
export function backendServices(options: BackendServicesOptions): (isRefused?: boolean) => Promise<string> {
  const { fetch: send = fetch } = options;
  let endpoint: Promise<string> | undefined;
  let current: { readonly token: Promise<string>; until: number } | undefined;
  const renew = async (kept: { until: number }): Promise<string> => {
    endpoint ??= discover(options.base, send);
    endpoint.catch(() => (endpoint = undefined));
    const { token, seconds } = await request(await endpoint, options, send);
    kept.until = Date.now() + seconds * 1000 - MARGIN;
    return token;
  };
  return (isRefused = false) => {
    if (!isRefused && current !== undefined && Date.now() < current.until) return current.token;
    const kept = { until: Infinity } as { token: Promise<string>; until: number };
    kept.token = renew(kept);
    // What failed is not kept.
    kept.token.catch(() => (current = undefined));
    current = kept;
    return kept.token;
  };
}

async function discover(base: string, send: typeof fetch): Promise<string> {
  const url = `${base.replace(/\/+$/, '')}/.well-known/smart-configuration`;
  const response = await send(url, { headers: { Accept: 'application/json' }, redirect: 'error' });
  const found = response.ok ? ((await response.json()) as { token_endpoint?: unknown }) : {};
  if (typeof found.token_endpoint !== 'string') throw new Error(`${url} names no token endpoint (${response.status})`);
  return found.token_endpoint;
}

async function request(
  endpoint: string,
  { clientId, key, scope }: BackendServicesOptions,
  send: typeof fetch,
): Promise<{ token: string; seconds: number }> {
  const { alg = 'ES384', kid = '' } = key;
  const assertion = await new SignJWT({})
    .setProtectedHeader({ alg, kid, typ: 'JWT' })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(endpoint)
    .setJti(crypto.randomUUID())
    .setIssuedAt()
    .setExpirationTime(`${ASSERTION}s`)
    .sign(await importJWK(key, alg));
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    scope,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion,
  });
  const response = await send(endpoint, {
    method: 'POST',
    body,
    headers: { Accept: 'application/json' },
    redirect: 'error',
  });
  const answer = (await response.json()) as Readonly<Record<string, unknown>>;
  const { access_token: token, expires_in: seconds } = answer;
  if (typeof token !== 'string') {
    throw new Error(
      `no token: ${String(answer['error'] ?? response.status)} ${String(answer['error_description'] ?? '')}`.trim(),
    );
  }
  return { token, seconds: typeof seconds === 'number' ? seconds : 60 };
}
