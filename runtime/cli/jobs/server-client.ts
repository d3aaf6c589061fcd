import { withoutSlash } from '../load/http-sink.js';
import { noAnswer } from '../load/no-answer.js';
import type { Tokens } from '../load/sink.js';
import { printable } from '../terminal.js';

/** A FHIR server that a command asks. */
export interface ServerClient {
  readonly base: string;
  /** Sends a request, with a new token where the present one has run out. @throws Error in one line where there is no answer */
  send(method: string, url: string, headers?: Readonly<Record<string, string>>, body?: string): Promise<Response>;
}

/** Opens a client of a server. @param tokens absent: the server wants none */
export function openClient(url: string, tokens: Tokens | undefined, signal: AbortSignal): ServerClient {
  const base = withoutSlash(url);
  async function once(method: string, at: string, headers: Readonly<Record<string, string>>, body?: string) {
    const token = await tokens?.current();
    const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    try {
      const init = { method, headers: { ...headers, ...authorization }, redirect: 'error' as const, signal };
      const response = await fetch(at, body === undefined ? init : { ...init, body });
      return { response, token };
    } catch (error) {
      signal.throwIfAborted();
      throw new Error(noAnswer(at, error), { cause: error });
    }
  }
  return {
    base,
    async send(method, at, headers = {}, body) {
      if (new URL(at).origin !== new URL(base).origin)
        throw new Error(`${printable(at)} is on another server than ${base}`);
      const { response, token } = await once(method, at, headers, body);
      if (response.status !== 401 || token === undefined || (await tokens?.renew(token)) === undefined) return response;
      return (await once(method, at, headers, body)).response;
    },
  };
}

/** Returns the reason of a refusal, in one line. */
export async function whyRefused(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { issue = [] } = JSON.parse(text) as { issue?: { details?: { text?: string } }[] };
    const texts = issue.flatMap(({ details }) => details?.text ?? []);
    if (texts.length > 0) return printable(`${response.status}: ${texts.join('; ')}`);
  } catch {
    // It is no OperationOutcome.
  }
  return `${response.status}`;
}
