import { WebSocket } from 'ws';

import { statusOf, type Status } from './receiver.js';

/** A client of web sockets. */
export interface Peer {
  readonly socket: WebSocket;
  /** In the order they came. */
  readonly received: string[];
  /** The code that it was closed with. */
  readonly closed: Promise<number>;
  statuses(id?: string): Status[];
  /** Numbers of events of a Subscription, in the order they came. */
  numbers(id: string): number[];
}

/** Connects. @param bind with this token at once @throws Error with the status of an answer that is no connection */
export async function connect(url: string, bind?: string, options: WebSocket.ClientOptions = {}): Promise<Peer> {
  const socket = new WebSocket(url, options);
  const received: string[] = [];
  socket.on('message', (data) => received.push(String(data)));
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  socket.on('error', () => {});
  if (bind !== undefined) socket.send(JSON.stringify({ type: 'bind-with-token', payload: { token: bind } }));
  const statuses = (id?: string): Status[] =>
    received
      .map((text) => statusOf(text))
      .filter(({ subscription }) => id === undefined || subscription.reference.endsWith(`/${id}`));
  return {
    socket,
    received,
    closed,
    statuses,
    numbers: (id) =>
      statuses(id).flatMap(({ notificationEvent = [] }) =>
        notificationEvent.map(({ eventNumber }) => Number(eventNumber)),
      ),
  };
}

/** The parts of the answer of `$get-ws-binding-token`. */
export function bindingOf(json: { readonly parameter: readonly { readonly name: string }[] }) {
  const values = (name: string): string[] =>
    json.parameter
      .filter((each) => each.name === name)
      .map((each) => String(Object.entries(each).find(([key]) => key !== 'name')![1]));
  const [[token], [url], [expiration]] = [values('token'), values('websocket-url'), values('expiration')];
  return { token: token!, url: url!, expiration: expiration!, subscriptions: values('subscription') };
}
