import type { IncomingMessage } from 'node:http';

import { type RawData, type WebSocket, WebSocketServer } from 'ws';

import { SOCKET_PATH } from '../../core/socket-url.js';
import { FhirError } from '../../fhir/errors.js';
import type { Log } from '../../observe/log.js';
import { refuseConnection, type UpgradeListener } from '../listen.js';
import { requestId } from '../request/request-id.js';
import { takeAbsolute } from './base-path.js';
import { PeerConnection } from './peer-connection.js';

/** Web sockets in one process, bound or not. */
const MOST = 2000;

/** Those of them that were not bound yet; of more the oldest is closed, so that one client does not keep others out. */
const MOST_UNBOUND = 1000;

/** Bytes of a message of a client: binding ones are short. */
const MOST_SENT = 16 * 1024;

/** How long a web socket may be without a binding, in milliseconds. */
const UNBOUND = 10_000;

/** How long the last connections may take to end, in milliseconds. */
const LINGER = 2000;

const CLOSE = {
  unbound: [4401, 'a binding token is needed: $get-ws-binding-token gives one'],
  failed: [1011, 'the server cannot do that now'],
} as const;

/** Parts that web sockets are served with. */
export interface WebSocketNeeds {
  /** Where FHIR is in the URLs of requests. */
  readonly fhirPath: string;
  /** Origins whose pages may connect, beside that of the server itself. */
  readonly corsOrigins: readonly string[];
  /** @throws FhirError for a connection that is not taken, whatever it wants */
  readonly admit: (req: IncomingMessage) => void;
  /** Begins to deliver. @returns false: the token is not good */
  readonly bind: (token: string, peer: PeerConnection) => Promise<boolean>;
  readonly log: Log;
}

/** Web sockets of a server. */
export interface WebSockets {
  readonly upgrade: UpgradeListener;
  /** Takes no new ones, and resolves when those that are there have ended; each gets the reason first. */
  close(): Promise<void>;
}

/** Serves web sockets, to which notifications of Subscriptions are sent. https://hl7.org/fhir/R5/subscriptions.html#channels */
export function createWebSockets({ fhirPath, corsOrigins, admit, bind, log }: WebSocketNeeds): WebSockets {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: true,
    maxPayload: MOST_SENT,
    // What is compressed beside what others chose can be guessed by its length.
    perMessageDeflate: false,
    autoPong: false,
  });
  let isClosing = false;
  /** Those that are not bound yet, the oldest first. */
  const unbound = new Set<PeerConnection>();

  function check(req: IncomingMessage): void {
    if (isClosing) throw new FhirError('not-open', 'The server is shutting down');
    const [path] = takeAbsolute(req).split('?');
    if (path !== fhirPath + SOCKET_PATH)
      throw new FhirError('unknown-path', `Web sockets are at ${SOCKET_PATH} below the FHIR base`);
    admit(req);
    const { origin, host } = req.headers;
    const isAllowed =
      origin === undefined || corsOrigins.includes(origin) || origin.replace(/^https?:\/\//, '') === host;
    if (!isAllowed) throw new FhirError('access-denied', 'Pages of this origin may not connect (cors.origins)');
    if (server.clients.size >= MOST) throw new FhirError('not-open', 'The server has as many web sockets as it can');
  }

  function accept(socket: WebSocket): void {
    const peer = new PeerConnection(socket);
    const timer = setTimeout(() => peer.close(...CLOSE.unbound), UNBOUND);
    const [oldest] = unbound;
    if (unbound.size >= MOST_UNBOUND) oldest?.close(...CLOSE.unbound);
    unbound.add(peer);
    const waitNoMore = (): void => {
      clearTimeout(timer);
      unbound.delete(peer);
    };
    peer.ended.addEventListener('abort', waitNoMore, { once: true });
    socket.on('message', (data, isBinary) => {
      const token = isBinary ? undefined : readBinding(data);
      if (token === undefined) return peer.close(...CLOSE.unbound);
      // One after the other.
      socket.pause();
      bind(token, peer)
        .then((isBound) => {
          if (isBound) waitNoMore();
          else peer.close(...CLOSE.unbound);
        })
        .catch((error: unknown) => {
          log.defect('none', error);
          peer.close(...CLOSE.failed);
        })
        .finally(() => socket.resume());
    });
  }

  return {
    upgrade(req, socket, head) {
      const id = requestId(req);
      let failure: FhirError | undefined;
      try {
        check(req);
        server.handleUpgrade(req, socket, head, accept);
      } catch (error) {
        if (!(error instanceof FhirError)) log.defect(id, error);
        failure = error instanceof FhirError ? error : new FhirError('internal');
        socket.on('error', () => {});
        refuseConnection(failure, socket);
      }
      const status = failure?.status ?? 101;
      log.request({ requestId: id, method: 'GET', route: SOCKET_PATH, status, duration: 0, failure: failure?.code });
    },
    async close() {
      isClosing = true;
      const cut = setTimeout(() => server.clients.forEach((each) => each.terminate()), LINGER);
      for (const each of server.clients) each.close(1001, 'the server ends');
      await Promise.all([...server.clients].map((each) => new Promise((done) => each.once('close', done))));
      clearTimeout(cut);
    },
  };
}

/** The token of a message that binds; undefined: it is none. https://hl7.org/fhir/R5/subscriptions.html#channels */
function readBinding(data: RawData): string | undefined {
  try {
    const message = JSON.parse(String(data)) as {
      readonly type?: unknown;
      readonly payload?: { readonly token?: unknown };
    };
    const token = message.type === 'bind-with-token' ? message.payload?.token : undefined;
    return typeof token === 'string' && token.length <= 128 ? token : undefined;
  } catch {
    return undefined;
  }
}
