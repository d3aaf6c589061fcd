import { setMaxListeners } from 'node:events';

import type { WebSocket } from 'ws';

/** Between two pings that see whether the peer is there, in milliseconds. */
const PING = 30_000;

/** Bytes of answers to pings that a peer may leave unread. */
const MOST_WAITING = 64 * 1024;

/** How long a peer may take to close too, in milliseconds. */
const LINGER = 2000;

/**
 * A web socket whose peer answers pings. What it was sent counts as taken when it has answered a ping that followed: it comes after all
 * that was written before. https://www.rfc-editor.org/rfc/rfc6455#section-5.5.3
 */
export class PeerConnection {
  private readonly end = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private isAlive = true;
  private pings = 0;
  private sending: { readonly mark: string; readonly taken: () => void; readonly lost: () => void } | undefined;

  constructor(private readonly socket: WebSocket) {
    // One for each Subscription.
    setMaxListeners(0, this.end.signal);
    this.timer = setInterval(() => this.look(), PING).unref();
    socket.on('pong', (mark) => {
      this.isAlive = true;
      if (String(mark) === this.sending?.mark) this.sending.taken();
    });
    socket.on('ping', (data) => {
      // Who asks without reading the answers would fill the memory.
      if (socket.bufferedAmount > MOST_WAITING && this.sending === undefined) this.cut();
      else if (socket.bufferedAmount <= MOST_WAITING) socket.pong(data);
    });
    // It is closed then.
    socket.on('error', () => {});
    socket.on('close', () => this.finish());
  }

  /** Aborts when the connection is over, or is being closed. */
  get ended(): AbortSignal {
    return this.end.signal;
  }

  /** Sends a text, one at a time. Resolves when the peer has taken it. @throws Error where it has not within the time, and is cut off */
  async send(text: string, timeout: number): Promise<void> {
    if (this.end.signal.aborted) throw over();
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        timer = setTimeout(() => this.cut(), timeout);
        const mark = String(++this.pings);
        this.sending = { mark, taken: resolve, lost: () => reject(over()) };
        this.socket.send(text);
        this.socket.ping(mark);
      });
    } finally {
      clearTimeout(timer);
      this.sending = undefined;
    }
  }

  close(code: number, reason: string): void {
    if (this.end.signal.aborted) return;
    this.finish();
    this.socket.close(code, reason);
    setTimeout(() => this.socket.terminate(), LINGER).unref();
  }

  /** Whether the peer is there is seen by what it is sent, or else by a ping. */
  private look(): void {
    if (this.sending !== undefined) return;
    if (!this.isAlive) return this.cut();
    this.isAlive = false;
    this.socket.ping();
  }

  private cut(): void {
    this.finish();
    this.socket.terminate();
  }

  private finish(): void {
    clearInterval(this.timer);
    this.end.abort();
    this.sending?.lost();
  }
}

function over(): Error {
  return new Error('the web socket is closed');
}
