import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Serves the requests of one connection one after the other, each when the answer before it has gone out. Node calls for
 * all that a client pipelines at once, and keeps every answer until the client reads: sixty kilobytes of requests could ask
 * for gigabytes. RFC 9112, 9.3.2
 */
export function inTurn(listener: RequestListener): RequestListener {
  const last = new WeakMap<Socket, ServerResponse>();
  const serve = (req: IncomingMessage, res: ServerResponse): void => {
    if (!req.socket.destroyed) listener(req, res);
  };
  return (req, res) => {
    const before = last.get(req.socket);
    last.set(req.socket, res);
    if (before === undefined || before.writableFinished || before.destroyed) listener(req, res);
    else before.once('close', () => serve(req, res));
  };
}
