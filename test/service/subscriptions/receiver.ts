import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A notification as a receiver got it. */
export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly at: number;
  /** What the receiver answered. */
  readonly status: number;
}

/** What a Bundle of a notification says first. */
export interface Status {
  readonly type: string;
  readonly status: string;
  readonly eventsSinceSubscriptionStart: string;
  readonly subscription: { readonly reference: string };
  readonly topic?: string;
  readonly notificationEvent?: readonly {
    readonly eventNumber: string;
    readonly timestamp: string;
    readonly focus?: { readonly reference: string };
    readonly additionalContext?: readonly { readonly reference: string }[];
  }[];
}

/** A receiver of notifications on loopback. */
export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** In the order they came. */
  readonly received: Received[];
  /** Decides what is answered; `hang`: nothing. */
  answer: (received: { readonly text: string; readonly n: number }) => number | 'hang';
  /** Of those that were answered with 2xx, by the id of the Subscription: the numbers of events, in the order they came. */
  numbers(id: string): number[];
  statuses(id?: string): Status[];
  close(): Promise<void>;
}

/** The SubscriptionStatus of a notification in JSON. */
export function statusOf(text: string): Status {
  const { resourceType, type, entry } = JSON.parse(text) as { resourceType: string; type: string; entry: { resource: Status }[] }; // prettier-ignore
  if (resourceType !== 'Bundle' || type !== 'subscription-notification') throw new Error(`no notification: ${text}`);
  return entry[0]!.resource;
}

/** Starts one, at a port of its own. */
export async function startReceiver(port = 0): Promise<Receiver> {
  const received: Received[] = [];
  let n = 0;
  const server = createServer((req, res) => {
    const parts: Buffer[] = [];
    req.on('data', (part: Buffer) => parts.push(part));
    req.on('end', () => {
      const text = Buffer.concat(parts).toString('utf8');
      const answer = receiver.answer({ text, n: n++ });
      const status = answer === 'hang' ? 0 : answer;
      received.push({ headers: req.headers, text, at: performance.now(), status });
      if (answer !== 'hang') res.writeHead(answer).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: used } = server.address() as AddressInfo;
  const taken = () => received.filter(({ status }) => status >= 200 && status < 300);
  const receiver: Receiver = {
    url: `http://127.0.0.1:${used}/hook`,
    port: used,
    received,
    answer: () => 200,
    numbers: (id) =>
      taken()
        .map(({ text }) => statusOf(text))
        .filter(({ subscription }) => subscription.reference.endsWith(`/${id}`))
        .flatMap(({ notificationEvent = [] }) => notificationEvent.map(({ eventNumber }) => Number(eventNumber))),
    statuses: (id) =>
      received
        .map(({ text }) => statusOf(text))
        .filter(({ subscription }) => id === undefined || subscription.reference.endsWith(`/${id}`)),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
