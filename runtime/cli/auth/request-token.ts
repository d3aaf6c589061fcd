import { readJsonFile } from '../../assembly/read-file.js';
import type { Jwk } from '../../auth/jwks/jwk.js';
import { signingKeyFault, tokenForm } from '../../auth/server/client-assertion.js';
import { ConfigError } from '../../config/config-error.js';
import { causeOf, isDistrusted, noAnswer } from '../load/no-answer.js';
import { printable } from '../terminal.js';

/** How long a server may take to answer, in milliseconds. */
const PATIENCE = 5000;
const DISCOVERY_PATIENCE = 10_000;
/** Scope that is requested where the operator names none. The client gets the part of it that it is registered for. */
export const EVERYTHING = 'system/*.cruds';
/** https://www.rfc-editor.org/rfc/rfc6750#section-2.1 */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

/** Who asks for a token, and where. */
export interface TokenRequest {
  readonly clientId: string;
  readonly key: Jwk;
  /** URL of the token endpoint, as the server advertises it. */
  readonly endpoint: string;
  readonly scope?: string | undefined;
}

/** There is no server yet, and may be in a moment. */
export class ServerUnreachable extends Error {}

/** A server answers, and says nothing of tokens. */
export class NoTokenEndpoint extends Error {}

/** Asks a token endpoint for a bearer token. @throws Error in one line; NotThere where no connection can be had */
export async function requestToken({ clientId, key, endpoint, scope = EVERYTHING }: TokenRequest): Promise<string> {
  const body = await tokenForm({ clientId, key, audience: endpoint, scope }, Date.now());
  const answer = await post(endpoint, body);
  const { access_token: token, error, error_description: text } = await readAnswer(answer, endpoint);
  if (answer.status === 200 && typeof token === 'string' && TOKEN.test(token)) return token;
  const why = [error, text].filter((each) => typeof each === 'string').join(': ');
  throw new Error(
    `no token for ${clientId}: ${printable(why === '' ? `${endpoint} answered ${answer.status}` : why)}${hintOf(error, scope)}`,
  );
}

/** What to do about a refusal that does not say it. */
function hintOf(error: unknown, scope: string): string {
  if (error === 'invalid_scope' && scope === EVERYTHING) return `; asked for was ${scope}, --scope asks for others`;
  if (error !== 'invalid_client') return '';
  return '; kiln client list prints who is registered with which keys, and the log of the server has the reason';
}

/**
 * The token endpoint that a FHIR server names. https://hl7.org/fhir/smart-app-launch/conformance.html#using-well-known
 *
 * @param base URL of the FHIR base
 * @throws Error in one line; ServerUnreachable where no connection can be had, NoTokenEndpoint where the answer names none
 */
export async function findTokenEndpoint(base: string): Promise<string> {
  const document = `${base.replace(/\/+$/, '')}/.well-known/smart-configuration`;
  let answer: Response;
  try {
    answer = await fetch(document, { redirect: 'error', signal: AbortSignal.timeout(DISCOVERY_PATIENCE) });
  } catch (error) {
    const text = noAnswer(document, error);
    throw causeOf(error) === 'ECONNREFUSED'
      ? new ServerUnreachable(text, { cause: error })
      : new Error(text, { cause: error });
  }
  const { token_endpoint: endpoint } = Object(await answer.json().catch(() => ({}))) as { token_endpoint?: unknown };
  if (answer.ok && typeof endpoint === 'string' && URL.canParse(endpoint)) return endpoint;
  throw new NoTokenEndpoint(`${document} names no token endpoint: without authorization no token is needed`);
}

/** The private key of a client. @throws ConfigError */
export async function readClientKey(file: string): Promise<Jwk> {
  const key = await readJsonFile('--key', file);
  const fault = signingKeyFault(key);
  if (fault !== undefined) throw new ConfigError(`--key ${JSON.stringify(file)}: the key ${fault}`);
  return key as Jwk;
}

async function post(url: string, body: string): Promise<Response> {
  try {
    return await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' },
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(PATIENCE),
    });
  } catch (error) {
    const cause = causeOf(error);
    const text = `${noAnswer(url, error)}; is the server started, with the same options?`;
    if (isDistrusted(error)) throw new Error(noAnswer(url, error), { cause: error });
    throw cause === 'ECONNREFUSED' ? new ServerUnreachable(text, { cause: error }) : new Error(text, { cause: error });
  }
}

async function readAnswer(answer: Response, url: string): Promise<Partial<Record<string, unknown>>> {
  if (answer.status === 404) throw new Error(`there is no ${url}: that server has no authorization of its own`);
  try {
    return Object(await answer.json()) as Partial<Record<string, unknown>>;
  } catch {
    return {};
  }
}
