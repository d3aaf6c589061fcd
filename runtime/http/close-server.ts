import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';

/** Node keeps the answer that a connection is busy with here, until its last byte has gone to the system. */
interface HttpSocket extends Socket {
  readonly _httpMessage?: ServerResponse | null;
}

/**
 * Closes a server as its clients expect: no new connection, those without a request end after a while, those with one when
 * their answer is out. A client may be about to use one that is idle; in that while it is answered, and learns that the
 * connection ends. Node's own `close` takes an answer that is written to its end for one that is out, and cuts it where the client
 * reads more slowly than that.
 *
 * @param event when the server has a connection that speaks HTTP; `secureConnection` with TLS
 * @returns closes it, and calls when all connections have ended; `idleFor` is that while, in milliseconds
 */
export function closerOf(
  server: Server,
  event: 'connection' | 'secureConnection',
): (done: () => void, idleFor: number) => void {
  const sockets = new Set<HttpSocket>();
  server.on(event, (socket: HttpSocket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const endIdle = (): void => {
    const leaving = [...sockets].map(({ _httpMessage }) => _httpMessage).find(isLeaving);
    if (leaving) leaving.once('close', endIdle);
    else server.closeIdleConnections();
  };
  return (done, idleFor) => {
    NetServer.prototype.close.call(server, () => {
      // Ends what looks at the times of connections.
      server.close();
      done();
    });
    if (idleFor === 0) endIdle();
    else setTimeout(endIdle, idleFor).unref();
  };
}

/** Written to its end, which has not gone to the system yet. */
function isLeaving(answer: ServerResponse | null | undefined): boolean {
  return answer?.writableEnded === true && !answer.writableFinished && !answer.destroyed;
}
