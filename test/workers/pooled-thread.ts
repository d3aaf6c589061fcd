import { EventEmitter } from 'node:events';
import { fileURLToPath } from 'node:url';
import {
  MessageChannel,
  Worker,
  type MessagePort,
  type TransferListItem,
  type WorkerOptions,
} from 'node:worker_threads';

/** How many idle threads of a kind are kept. */
const MOST_IDLE = 4;

const HOST = new URL('./thread-host.mjs', import.meta.url);

/** Idle threads by kind. They are global because each test file may load this module anew. */
const pools = ((globalThis as Record<symbol, unknown>)[Symbol.for('kiln.idle-threads')] ??= new Map()) as Map<
  string,
  Worker[]
>;

/**
 * Stands for a Worker where tests open a store each: starting a thread takes longer than most of them. It is a thread that an earlier one
 * of its kind has left by closing its port. One that throws, or is terminated, ends.
 */
export class PooledThread extends EventEmitter {
  private readonly host: Worker;
  private readonly port: MessagePort;
  private isOver = false;

  constructor(url: URL, { workerData, ...options }: WorkerOptions) {
    super();
    // A thread that has a lower priority keeps it.
    const { isForLong = false } = workerData as { isForLong?: boolean };
    const kind = `${url.href} ${JSON.stringify(options)} ${isForLong}`;
    this.host = pools.get(kind)?.pop() ?? new Worker(HOST, options);
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    port1.on('message', (message) => this.emit('message', message));
    // The host decides whether the process stays.
    port1.unref();
    this.host.on('error', this.onError);
    this.host.on('exit', this.onExit);
    // Where the thread dies the port closes too, and nobody says that it was left.
    const isClosed = new Promise((resolve) => port1.once('close', resolve));
    this.host.once('message', () => void isClosed.then(() => this.leave(kind)));
    this.host.ref();
    this.host.postMessage({ file: fileURLToPath(url), port: port2, workerData: workerData as unknown }, [port2]);
  }

  postMessage(message: unknown, transfer: readonly TransferListItem[] = []): void {
    this.port.postMessage(message, transfer);
  }

  ref(): void {
    if (!this.isOver) this.host.ref();
  }

  unref(): void {
    if (!this.isOver) this.host.unref();
  }

  terminate(): Promise<number> {
    return this.isOver ? Promise.resolve(0) : this.host.terminate();
  }

  private readonly onError = (error: Error): void => void this.emit('error', error);
  private readonly onExit = (code: number): void => this.end(code);

  /** Its port was closed, and all that it said has come. */
  private leave(kind: string): void {
    if (this.isOver) return;
    this.host.off('error', this.onError);
    this.host.off('exit', this.onExit);
    this.host.unref();
    const idle = pools.get(kind) ?? [];
    pools.set(kind, idle);
    if (idle.length < MOST_IDLE) idle.push(this.host);
    else void this.host.terminate();
    this.end(0);
  }

  private end(code: number): void {
    if (this.isOver) return;
    this.isOver = true;
    this.port.close();
    this.emit('exit', code);
  }
}
