import type { ChildProcess } from 'node:child_process';

/** What Node's cluster says to a worker when it hands it a connection of the server with this key. */
interface NewConnection {
  readonly act?: string;
  readonly key?: string;
}

/** A connection as Node hands it over; to close one that is closed already does nothing. */
interface Handle {
  close(): void;
}

/**
 * Ends the connections that a worker was handed and did not take. Node forgets one that is on its way to a worker which dies: it is
 * neither answered nor ended, and its client waits for ever. A server hands a worker one at a time, and closes its own end of it when the
 * worker has it, so the last one of each server is all there is to look at.
 *
 * @param child the process of the worker, right after its start
 */
export function endUnaccepted(child: ChildProcess): void {
  const handed = new Map<string, Handle>();
  const send = child.send.bind(child) as (...message: unknown[]) => boolean;
  child.send = (...sent: unknown[]): boolean => {
    const [message, handle] = sent as [NewConnection, Handle | undefined];
    if (message.act === 'newconn' && message.key !== undefined && handle) handed.set(message.key, handle);
    return send(...sent);
  };
  // When it has exited and all that it said has been read; "disconnect" is not emitted while a connection is on its way.
  child.once('close', () => {
    for (const handle of handed.values()) handle.close();
  });
}
