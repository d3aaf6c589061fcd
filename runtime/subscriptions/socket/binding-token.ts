import { createHash, randomBytes } from 'node:crypto';

import type { AtomicMaps } from '../../store/store.js';
import { SUBSCRIPTION_MAPS } from '../../store/system-maps.js';

const TOKENS = `${SUBSCRIPTION_MAPS}tokens`;

/** How long a token may be used, in milliseconds. */
const TIME = 60_000;

/** In place of a token that was used. */
const USED = 'used';

/** The grant of a binding token to a web socket: Subscriptions, with the rights of the client that asked for it. */
export interface SocketBinding {
  /** Empty without authorization. */
  readonly clientId: string;
  /** Canonical scopes of the access token; absent: it gave everything. */
  readonly scope?: string;
  readonly registration?: string;
  /** Ids of Subscriptions. */
  readonly ids: readonly string[];
  /** When it was given: milliseconds since the epoch. */
  readonly granted: number;
}

/** The store has no token, only what one leads to. */
function keyOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

/**
 * Makes a token that any process of the store takes, once. https://hl7.org/fhir/R5/subscription-operation-get-ws-binding-token.html
 *
 * @returns the token, and until when it may be used
 */
export async function giveToken(
  maps: AtomicMaps,
  binding: SocketBinding,
): Promise<{ readonly token: string; readonly expires: number }> {
  const token = randomBytes(32).toString('base64url');
  const expires = binding.granted + TIME;
  await maps.swap(TOKENS, keyOf(token), undefined, JSON.stringify(binding), expires);
  return { token, expires };
}

/** Uses a token up. @returns undefined: it was never given, was used, or is too old */
export async function takeToken(maps: AtomicMaps, token: string, now: number): Promise<SocketBinding | undefined> {
  const key = keyOf(token);
  const text = await maps.get(TOKENS, key);
  if (text === undefined || text === USED) return undefined;
  const binding = JSON.parse(text) as SocketBinding;
  const isTaken = await maps.swap(TOKENS, key, text, USED, now + TIME);
  return isTaken && binding.granted + TIME > now ? binding : undefined;
}
