import { readClientKey, requestToken } from '../auth/request-token.js';
import { withoutSlash } from './http-sink.js';
import { noAnswer } from './no-answer.js';
import { LoadStopped, type Tokens } from './sink.js';

/** Time for an answer, in milliseconds. */
const PATIENCE = 10_000;

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
      return await requestToken({ clientId, key, endpoint: await findEndpoint(url) });
    } catch (error) {
      throw error instanceof LoadStopped ? error : new LoadStopped((error as Error).message, { cause: error });
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

/** https://hl7.org/fhir/smart-app-launch/conformance.html#using-well-known */
async function findEndpoint(url: string): Promise<string> {
  const document = `${withoutSlash(url)}/.well-known/smart-configuration`;
  let answer: Response;
  try {
    answer = await fetch(document, { redirect: 'error', signal: AbortSignal.timeout(PATIENCE) });
  } catch (error) {
    throw new LoadStopped(noAnswer(document, error), { cause: error });
  }
  const { token_endpoint: endpoint } = Object(await answer.json().catch(() => ({}))) as { token_endpoint?: unknown };
  if (answer.ok && typeof endpoint === 'string' && URL.canParse(endpoint)) return endpoint;
  throw new LoadStopped(`${document} names no token endpoint: without authorization no --client is needed`);
}
