import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Aborts when the connection ends before the answer is out. */
export function abortedWith(res: ServerResponse): AbortSignal {
  const controller = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) controller.abort();
  });
  return controller.signal;
}

const ofConnections = new WeakMap<Socket, AbortSignal>();

/**
 * The same for what has come to its end when the answer is out: one signal for all requests of a connection, which are answered
 * one after the other. To make one takes some 3 % of a short search.
 */
export function closedWith(res: ServerResponse): AbortSignal {
  const { socket, req } = res;
  // In HTTP/2 many requests share a connection.
  if (socket === null || req.httpVersionMajor !== 1) return abortedWith(res);
  const known = ofConnections.get(socket);
  if (known !== undefined) return known;
  const controller = new AbortController();
  ofConnections.set(socket, controller.signal);
  socket.once('close', () => controller.abort());
  return controller.signal;
}
