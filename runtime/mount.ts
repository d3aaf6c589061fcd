import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Application } from './assembly/application.js';
import { checkExposure } from './config/exposure.js';
import { ConfigError } from './config/config-error.js';
import { readOptions, type KilnSettings } from './config/read-options.js';
import type { Config } from './config/settings.js';
import { FhirError } from './fhir/errors.js';
import { withTimeout } from './fhir/with-timeout.js';
import { createHooks, type Hooks, type KilnHooks } from './hooks.js';
import { refuseConnection, type UpgradeListener } from './http/listen.js';
import { hasBody } from './http/request/read-body.js';
import { inTurn } from './http/request/in-turn.js';
import { requestId } from './http/request/request-id.js';
import { PLAIN, sendError } from './http/response/respond.js';
import { createProxies, type Proxies } from './http/transport/client-address.js';
import { createMountGuard } from './http/transport/mount-guard.js';
import type { Log } from './observe/log.js';
import { baseKey } from './path/base-key.js';
import { OwnBases } from './path/own-bases.js';
import type { Core } from './server.js';

/** Options that Kiln is mounted with: settings, and values that only a program can give. */
export interface KilnOptions extends KilnSettings {
  /** The path that Kiln is mounted on, as clients see it: `/fhir` (the default), `/api/fhir`. */
  readonly path?: string;
}

/** Kiln as a request handler for Express 5. */
export interface Kiln {
  /** Answers a request. It takes all that come, and never calls a next handler. */
  (req: IncomingMessage, res: ServerResponse): void;
  /** Adds hooks. */
  readonly on: KilnHooks;
  /** Takes requests for web sockets, where `subscriptions.websocket` is on: `server.on('upgrade', fhir.upgrade)`. */
  readonly upgrade: UpgradeListener;
  /** Resolves when the store is open; requests wait for that. Rejects where it cannot be opened: requests are answered with 500 then. */
  readonly ready: Promise<void>;
  /**
   * Takes no new requests, lets those in progress end (for `shutdown.drain` at most), closes the store, and waits as long for hooks.
   *
   * @returns whether all requests ended in time
   */
  close(): Promise<boolean>;
}

/** A path that Express can be given, without a slash at the end. */
const PATH = /^(?:\/[A-Za-z0-9._~-]+)+$/;

/**
 * Kiln for another application: `app.use('/fhir', kiln({ store: 'sqlite:./kiln.db' }))`. FHIR is at the path, and everything else that
 * Kiln serves below it: `auth/token`, `.well-known/smart-configuration`, `openapi/`, `docs/`, `health/`. Authorization is on unless the
 * settings say otherwise. Without the setting `base-url` only programs on this machine are served. docs/mounting.md
 *
 * @throws ConfigError for settings that cannot be
 */
export function kiln({ path = '/fhir', ...settings }: KilnOptions = {}): Kiln {
  if (!PATH.test(path)) throw new ConfigError(`path ${JSON.stringify(path)}: has to be a path such as /fhir`);
  // An application has a log of its own: of Kiln it gets what has to be mended.
  const config = readOptions({ 'log.level': 'warn', ...settings });
  checkExposure(config);
  const root = config['base-url'];
  const proxies = createProxies(config['proxy.trust']);
  const guard = createMountGuard({ path, isNamed: root !== undefined, proxies });
  const hooks = createHooks();
  const baseUrl = root === undefined ? undefined : root + path;
  const opened = openMounted(config, { proxies, hooks, baseUrl });
  opened.catch(() => {});
  const open = new Set<ServerResponse>();
  let isPlaced = false;
  let ended: Promise<boolean> | undefined;

  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const refusal = ended === undefined ? guard(req) : new FhirError('not-open', 'The server is shutting down');
    if (refusal !== undefined) return refuse(req, res, refusal);
    const { application, log } = await opened;
    if (isBodyConsumed(req)) {
      const error = new FhirError('body-consumed');
      log.warn(error.message);
      return refuse(req, res, error);
    }
    place(application, req);
    application.listener(req, res);
  };
  const place = (application: Application, req: IncomingMessage): void => {
    if (!isPlaced) application.open({ root: (root ?? ownRoot(req)) + path, mountPath: path });
    isPlaced = true;
  };
  const connect = async (...[req, socket, head]: Parameters<UpgradeListener>): Promise<void> => {
    const { headers, socket: own } = req;
    const refusal = ended === undefined ? guard({ headers, socket: own, baseUrl: path }) : new FhirError('not-open');
    if (refusal !== undefined) throw refusal;
    const { application } = await opened;
    const { url = '' } = req;
    if (application.upgrade === undefined || !url.startsWith(`${path}/`)) throw new FhirError('unknown-path', 'There are no web sockets here'); // prettier-ignore
    place(application, req);
    req.url = url.slice(path.length);
    application.upgrade(req, socket, head);
  };
  const handler = inTurn((req, res) => {
    open.add(res);
    res.once('close', () => open.delete(res));
    answer(req, res).catch(() => refuse(req, res, new FhirError('internal')));
  });
  const close = async (): Promise<boolean> => {
    const { application } = await opened.catch(() => ({ application: undefined }));
    application?.drain();
    const isDrained = await drained(open, config['shutdown.drain']);
    await opened.then(
      ({ end }) => end(),
      () => {},
    );
    return isDrained;
  };
  return Object.assign((req: IncomingMessage, res: ServerResponse) => handler(req, res), {
    on: hooks.on,
    upgrade(...from: Parameters<UpgradeListener>) {
      connect(...from).catch((error: unknown) => {
        refuseConnection(error instanceof FhirError ? error : new FhirError('internal'), from[1]);
      });
    },
    ready: opened.then(() => {}),
    close: () => (ended ??= close()),
  });
}

interface MountedParts {
  readonly proxies: Proxies;
  readonly hooks: Hooks;
  readonly baseUrl: string | undefined;
}

interface Mounted {
  readonly application: Application;
  readonly log: Log;
  end(): Promise<void>;
}

/** Everything is loaded here: an application that imports Kiln starts as fast as before. */
async function openMounted(config: Config, { proxies, hooks, baseUrl }: MountedParts): Promise<Mounted> {
  const [
    { createLog },
    { openCore, RESOURCE_TYPES },
    { createExtractionThrottle },
    { openApplication },
    { hasSpans, startSpans },
  ] = await Promise.all([
    import('./observe/create-log.js'),
    import('./server.js'),
    import('./indexing/extraction-throttle.js'),
    import('./assembly/application.js'),
    import('./observe/trace/spans.js'),
  ]);
  const log = createLog(process.stderr, config['log.level']);
  let core: Core | undefined;
  try {
    const own = new OwnBases(baseUrl === undefined ? [] : [baseKey(baseUrl)]);
    await startSpans(RESOURCE_TYPES);
    const watchesCommands = config['metrics-port'] !== undefined || hasSpans();
    core = await openCore(config, { pace: createExtractionThrottle(), own, watchesCommands });
    const { store } = core;
    const app = { baseUrl, corsOrigins: config['cors.origins'] };
    const application = await openApplication(config, core, { app, proxies }, log, hooks);
    return {
      application,
      log,
      async end() {
        await application.close().finally(() => store.close());
        const late = (): Error => new Error('hooks did not end in time (shutdown.drain), and are left behind');
        await withTimeout(config['shutdown.drain'], hooks.settled(), late).catch((error: Error) =>
          log.warn(error.message),
        );
      },
    };
  } catch (error) {
    log.defect('none', error);
    await core?.store.close();
    throw error;
  }
}

/** Whether a parser of the application has taken the body already. */
function isBodyConsumed(req: IncomingMessage): boolean {
  return hasBody(req) && (req.readableDidRead || (req as { body?: unknown }).body !== undefined);
}

/** Root of the application on this machine, as a request came in. */
function ownRoot({ socket }: IncomingMessage): string {
  return `${'encrypted' in socket ? 'https' : 'http'}://127.0.0.1:${socket.localPort}`;
}

function refuse(req: IncomingMessage, res: ServerResponse, error: FhirError): void {
  if (res.headersSent) res.destroy();
  else void sendError(res, error, { ...PLAIN, pretty: false, requestId: requestId(req) });
}

/** Waits until all answers are out, or the time is over. */
async function drained(open: ReadonlySet<ServerResponse>, time: number): Promise<boolean> {
  const end = performance.now() + time;
  while (open.size > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
  return open.size === 0;
}
