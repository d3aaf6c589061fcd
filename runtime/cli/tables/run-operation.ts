import { OPERATOR } from '../../auth/scopes/principal.js';
import { ConfigError } from '../../config/config-error.js';
import { readConfig, type Flags } from '../../config/read-config.js';
import type { JsonObject } from '../../fhir/resource.js';
import type { Core } from '../../server.js';
import { readUrl } from '../load/load-options.js';
import { noAnswer } from '../load/no-answer.js';
import { EXIT, failed, type Terminal } from '../terminal.js';

/** Whom a command asks: a store, or a server. */
export interface TargetOptions {
  readonly url?: string;
  readonly token?: string;
}

/** Calls an operation of the system with Parameters, and gives the body of its answer as it comes. @throws Error in one line */
export type RunOperation = (name: string, parameters: JsonObject) => Promise<AsyncIterable<string | Uint8Array>>;

/**
 * Opens the store, or names the server, that options and settings say, for the time that some work takes.
 *
 * @param work gets the store where it is one: the operator asks it, and no token bounds what it shows
 * @returns the exit code: 1 where the work failed
 * @throws ConfigError
 */
export async function withOperations(
  { url: given, token: option }: TargetOptions,
  flags: Flags,
  terminal: Terminal,
  work: (run: RunOperation, core?: Core) => Promise<void>,
): Promise<number> {
  const url = readUrl(given, flags, terminal);
  const token = option ?? (terminal.env['KILN_TOKEN'] || undefined);
  if (option !== undefined && url === undefined) throw new ConfigError('--token goes with --url');
  if (option === '') throw new ConfigError('--token is empty: did kiln token fail?');
  const { config } = readConfig(flags, terminal.env);
  let close = (): Promise<void> => Promise.resolve();
  try {
    if (url !== undefined) {
      await work(onServer(url, token));
      return EXIT.done;
    }
    const server = await import('../../server.js');
    const core = await server.openCore(config, { existing: true });
    close = () => core.store.close();
    await work(await onStore(core), core);
    return EXIT.done;
  } catch (error) {
    return failed(error, terminal);
  } finally {
    await close();
  }
}

/** The pieces of an answer as texts. */
export async function* textsOf(pieces: AsyncIterable<string | Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const piece of pieces) yield typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true });
}

async function onStore(core: Core): Promise<RunOperation> {
  const [{ createServing }, { OPERATIONS }] = await Promise.all([
    import('../../http/create-services.js'),
    import('../../operations/registry.js'),
  ]);
  const serving = createServing(core, core.definitions.current);
  return async (operation, parameters) => {
    const call = {
      ...({ interaction: 'operation', operation, level: 'system' } as const),
      ...{ principal: OPERATOR, params: new URLSearchParams(), conditions: {}, prefer: {}, base: '' },
      body: parameters,
    };
    const reply = await OPERATIONS.get(operation)?.(call, serving().services);
    return pieces(reply?.body?.content ?? '');
  };
}

/** A text in one piece, or the pieces that there are. */
async function* pieces(
  content: string | Uint8Array | AsyncIterable<string | Uint8Array>,
): AsyncGenerator<string | Uint8Array> {
  if (typeof content === 'string' || content instanceof Uint8Array) yield content;
  else yield* content;
}

function onServer(url: string, token: string | undefined): RunOperation {
  return async (operation, parameters) => {
    let response: Response;
    try {
      response = await fetch(`${url.replace(/\/$/, '')}/$${operation}`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/fhir+json',
          ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify(parameters),
        redirect: 'error', // the token is for this server
      });
    } catch (error) {
      throw new Error(noAnswer(url, error), { cause: error });
    }
    if (response.status !== 200 || response.body === null) {
      throw new Error(`the server answered ${response.status}: ${describe(await response.text())}`);
    }
    return response.body;
  };
}

function describe(text: string): string {
  try {
    const { issue = [] } = JSON.parse(text) as { issue?: { details?: { text?: string }; diagnostics?: string }[] };
    return issue
      .map(({ details, diagnostics }) => details?.text ?? diagnostics ?? '')
      .join('; ')
      .slice(0, 500);
  } catch {
    return text.slice(0, 200);
  }
}
