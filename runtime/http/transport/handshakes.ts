import type { Server } from 'node:https';
import type { Socket } from 'node:net';

/**
 * Knows the connections that have not spoken TLS yet. Node's server of https does not count them among its connections, so
 * that it would wait for them when it closes.
 *
 * @returns ends them
 */
export function watchHandshakes(server: Server): () => void {
  const waiting = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    const key = nameOf(socket);
    waiting.set(key, socket);
    socket.once('close', () => {
      if (waiting.get(key) === socket) waiting.delete(key);
    });
  });
  server.on('secureConnection', (socket) => waiting.delete(nameOf(socket)));
  return () => {
    for (const socket of waiting.values()) socket.destroy();
  };
}

/** The same of a connection and of the TLS upon it. */
function nameOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${localAddress ?? ''} ${remoteAddress ?? ''} ${remotePort ?? ''}`;
}
