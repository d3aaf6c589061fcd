import { findTokenEndpoint, readClientKey, requestToken } from '../auth/request-token.js';
import type { LoadFlags } from './load-options.js';
import { LoadStopped, type Tokens } from './sink.js';

/** One token, good as long as it is. */
export function oneToken(token: string): Tokens {
  return { current: () => Promise.resolve(token), renew: () => Promise.resolve(undefined) };
}

/**
 * Tokens of a client that can ask for more of them, one after the other. Requests at the same time get the same one.
 *
 * @param url FHIR base, whose discovery document names the token endpoint
 * @param file its private key
 * @throws ConfigError for a key that is none
 */
export async function clientTokens(url: string, clientId: string, file: string): Promise<Tokens> {
  const key = await readClientKey(file);
  let held: Promise<string> | undefined;
  const fetchOne = async (): Promise<string> => {
    try {
      return await requestToken({ clientId, key, endpoint: await findTokenEndpoint(url) });
    } catch (error) {
      throw new LoadStopped((error as Error).message, { cause: error });
    }
  };
  const current = (): Promise<string> => (held ??= fetchOne());
  return {
    current,
    async renew(refused) {
      const was = held;
      // Another request may have got a new one meanwhile.
      if ((await was) === refused && held === was) held = undefined;
      return current();
    },
  };
}

/**
 * Returns the tokens that the options of a command ask for; undefined: none.
 *
 * @param token what `--token` or the environment says
 * @throws ConfigError for a key that is none
 */
export async function tokensFor(
  url: string,
  { client, key }: Pick<LoadFlags, 'client' | 'key'>,
  token: string | undefined,
): Promise<Tokens | undefined> {
  if (client !== undefined && key !== undefined) return clientTokens(url, client, key);
  return token === undefined ? undefined : oneToken(token);
}
