import type { Client } from '../clients/client.js';
import type { ClientReader } from '../clients/client-reader.js';
import { isAlgorithm, type SignatureAlgorithm } from '../jwks/algorithms.js';
import { ExchangeError } from '../jwks/exchange.js';
import type { Jwk } from '../jwks/jwk.js';
import type { JwksSource } from '../jwks/jwks-source.js';
import { selectKey } from '../jwks/select-key.js';
import { decodeJws, verifyJws, type DecodedJws } from '../keys/jws.js';
import type { Credentials } from './credentials.js';
import { decoyKey } from './decoy-keys.js';
import { mismatch, Refused, type Refusal } from './refusals.js';
import type { ReplayGuard } from './replay.js';
import { ASSERTION_LIFETIME, type AuthSettings } from './settings.js';

/** Parts that authentication of clients works with. */
export interface Authentication {
  readonly settings: AuthSettings;
  readonly clients: ClientReader;
  readonly jwks: JwksSource;
  readonly replay: ReplayGuard;
  /** The clock, in milliseconds. */
  readonly now: () => number;
}

const MAX_JTI = 255;

/**
 * Authenticates a client by its assertion, which is used up by that.
 * https://hl7.org/fhir/smart-app-launch/client-confidential-asymmetric.html#signature-verification; authorization.md
 * §2.2, §2.3, §2.6 steps 4 to 7 (its first half)
 *
 * @throws Refused; the client sees one and the same refusal for all that can be wrong
 * @throws FhirError where the store cannot serve
 */
export async function authenticate({ assertion, clientId }: Credentials, needs: Authentication): Promise<Client> {
  const jws = decodeJws(assertion);
  if (jws === undefined) throw new Refused('assertion-form');
  const { alg, kid } = checkHeader(jws, needs.settings);
  const client = await findSigner(assertion, jws, alg, kid, needs);
  const { jti, until } = checkClaims(jws, clientId, needs);
  if (!(await needs.replay.use(client.id, jti, until))) throw new Refused('replay');
  if (!client.enabled) throw new Refused('disabled');
  return client;
}

function checkHeader({ header }: DecodedJws, { algorithms }: AuthSettings): { alg: SignatureAlgorithm; kid: string } {
  const { alg, kid, typ } = header;
  if (!isAlgorithm(alg) || !algorithms.includes(alg)) throw new Refused('alg', mismatch(algorithms.join(' or '), alg));
  if (typeof kid !== 'string' || kid === '') throw new Refused('kid', mismatch('the name of a registered key', kid));
  // The rule for media types of RFC 7515 §4.1.9. Access tokens and others have types of their own.
  if (typeof typ !== 'string' || !['jwt', 'application/jwt'].includes(typ.toLowerCase()))
    throw new Refused('typ', mismatch('JWT', typ));
  if ('crit' in header || 'b64' in header) throw new Refused('crit');
  return { alg, kid };
}

/**
 * The client whose key made the signature. Where client or key are missing a signature is checked all the same, so that
 * time does not tell which clients and keys there are.
 */
async function findSigner(
  assertion: string,
  { header, payload }: DecodedJws,
  alg: SignatureAlgorithm,
  kid: string,
  { clients, jwks }: Authentication,
): Promise<Client> {
  const { iss } = payload;
  const client = typeof iss === 'string' ? await clients.find(iss) : undefined;
  const found = client === undefined ? new Refused('client') : await findKey(client, header, alg, kid, jwks);
  const isGood = await verifyJws(assertion, found instanceof Refused ? decoyKey(alg) : found, alg);
  if (found instanceof Refused) throw found;
  if (!isGood || client === undefined) throw new Refused('signature');
  return client;
}

/** The steps of §2.3. What is wrong is given back, not thrown. */
async function findKey(
  { jwks: set, jwksUrl, algorithms }: Client,
  { jku }: DecodedJws['header'],
  alg: SignatureAlgorithm,
  kid: string,
  source: JwksSource,
): Promise<Jwk | Refused> {
  if (algorithms !== undefined && !algorithms.includes(alg))
    return new Refused('alg', mismatch(`${algorithms.join(' or ')} of this client`, alg));
  if (jku !== undefined && jku !== jwksUrl) return new Refused('jku', mismatch(jwksUrl ?? 'none', jku));
  try {
    const selected =
      jwksUrl === undefined ? selectKey(set?.keys ?? [], kid, alg) : await source.find(jwksUrl, kid, alg);
    return 'key' in selected ? selected.key : new Refused('key', keyMismatch(selected.missing, kid, set));
  } catch (error) {
    if (error instanceof ExchangeError) return new Refused('jwks', error.message);
    throw error;
  }
}

function checkClaims(
  { payload }: DecodedJws,
  clientId: string | undefined,
  { settings, now }: Authentication,
): { jti: string; until: number } {
  const { skew, addresses, acceptsIssuerAsAudience } = settings;
  const { iss, sub, aud, exp, nbf, iat, jti } = payload;
  const time = now() / 1000;
  const audiences = acceptsIssuerAsAudience ? [addresses.token, addresses.issuer] : [addresses.token];
  const clock = Math.floor(time);
  // What is refused, whether it holds, what is expected, and what was received.
  const rules: readonly (readonly [Refusal, boolean, string, unknown])[] = [
    ['subject', iss === sub, `sub ${JSON.stringify(iss)}, as iss`, sub],
    ['client-id', clientId === undefined || clientId === sub, `client_id ${JSON.stringify(sub)}, as sub`, clientId],
    ['audience', listOf(aud).some((each) => audiences.includes(each as string)), audiences.join(' or '), aud],
    [
      'expiry',
      isTime(exp) && time <= exp + skew && exp <= time + ASSERTION_LIFETIME + skew,
      `exp from ${clock} to ${clock + ASSERTION_LIFETIME}`,
      exp,
    ],
    ['not-before', nbf === undefined || (isTime(nbf) && nbf <= time + skew), `nbf up to ${clock}`, nbf],
    ['issued-at', iat === undefined || (isTime(iat) && iat <= time + skew), `iat up to ${clock}`, iat],
    [
      'jti',
      typeof jti === 'string' && jti !== '' && jti.length <= MAX_JTI,
      `a text of 1 to ${MAX_JTI} characters`,
      jti,
    ],
  ];
  const broken = rules.find(([, holds]) => !holds);
  if (broken !== undefined) throw new Refused(broken[0], mismatch(broken[2], broken[3]));
  return { jti: jti as string, until: ((exp as number) + skew) * 1000 };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

/** Key names that are listed in the log. */
const MAX_NAMES = 5;

/** Why no key was found; the names of registered keys are public. */
function keyMismatch(missing: 'unknown' | 'ambiguous' | 'unfit', kid: string, set: Client['jwks']): string {
  const names = (set?.keys ?? []).slice(0, MAX_NAMES).map((key) => JSON.stringify(key['kid']));
  const expected = names.length === 0 ? 'the name of a key in the JWKS' : `kid ${names.join(' or ')}`;
  return `${missing}: ${mismatch(expected, kid)}`;
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
