import type { TransferListItem, Worker } from 'node:worker_threads';

import { FhirError } from '../../../fhir/errors.js';
import { unpackError, type Answer, type Operations, type Request } from './messages.js';

/** A thread that serves requests; it is started by the first, and anew by the next after it died. */
export interface Thread<T extends Operations<T>> {
  /** Asks for something. Rejects with `store-unavailable` where the thread dies before it answers. */
  request<K extends keyof T & string>(
    kind: K,
    args: Parameters<T[K]>,
    more?: {
      readonly transfer?: readonly TransferListItem[];
      readonly budget?: number;
      readonly onId?: (id: number) => void;
    },
  ): Promise<ReturnType<T[K]>>;
  /** Tells it something that has no answer. */
  tell<K extends keyof T & string>(kind: K, args: Parameters<T[K]>): void;
  /** Ends the thread at once; the request that waits for it gets 503. */
  kill(): void;
  /** Lets it finish what it was asked, and ends it. */
  close(): Promise<void>;
}

/** How long a thread may take to end by itself, in milliseconds. */
const CLOSE_TIMEOUT = 15_000;

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A thread made by `start`. Idle, it does not keep the process alive.
 *
 * @param onNews what the thread says unasked
 */
export function openThread<T extends Operations<T>>(
  start: () => Worker,
  onNews: (news: unknown) => void = () => {},
): Thread<T> {
  let worker: Worker | undefined;
  let lastId = 0;
  const waiting = new Map<number, Waiting>();
  let onEnd: (() => void) | undefined;

  function running(): Worker {
    if (worker !== undefined) return worker;
    const started = start();
    worker = started;
    started.unref();
    let cause: string | undefined;
    started.on('message', (answers: readonly Answer[]) => answers.forEach(settle));
    started.on('error', (error: Error) => (cause = error.message));
    started.on('exit', () => {
      if (worker === started) abandon(cause);
      onEnd?.();
    });
    return started;
  }

  function settle(answer: Answer): void {
    if (answer.id === 0 && 'value' in answer) return onNews(answer.value);
    const one = waiting.get(answer.id);
    if (one === undefined) return;
    waiting.delete(answer.id);
    if (waiting.size === 0) worker?.unref();
    if ('failure' in answer) one.reject(unpackError(answer.failure));
    else one.resolve(answer.value);
  }

  /** Whether a write of a dead thread was committed is unknown; its client learns that it failed, and may look. */
  function abandon(cause = 'a thread of the store ended'): void {
    worker = undefined;
    const left = [...waiting.values()];
    waiting.clear();
    for (const { reject } of left) reject(new FhirError('store-unavailable', undefined, { diagnostics: cause }));
  }

  return {
    request(kind, args, { transfer = [], budget, onId } = {}) {
      return new Promise((resolve, reject) => {
        const target = running();
        const id = ++lastId;
        const request: Request = budget === undefined ? { id, kind, args } : { id, kind, args, budget };
        // An argument that cannot be cloned throws here, and rejects.
        target.postMessage(request, transfer);
        if (waiting.size === 0) target.ref();
        waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
        onId?.(id);
      });
    },
    tell: (kind, args) => running().postMessage({ id: 0, kind, args } satisfies Request),
    kill() {
      const doomed = worker;
      abandon();
      void doomed?.terminate();
    },
    async close() {
      const ending = worker;
      if (ending === undefined) return;
      ending.ref();
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        onEnd = resolve;
        timer = setTimeout(() => void ending.terminate(), CLOSE_TIMEOUT);
        ending.postMessage({ id: 0, kind: 'close', args: [] } satisfies Request);
      });
      clearTimeout(timer);
    },
  };
}
