import { setImmediate } from 'node:timers';

/** More do not share a command: a slow one of them would keep too many waiting. */
const MOST = 64;

/** Result of one item. */
export type Result<R> = R | Error | Promise<R>;

interface Waiting<T, R> {
  readonly item: T;
  resolve(result: R | Promise<R>): void;
  reject(error: unknown): void;
}

/**
 * Does together what is asked for within one turn of the event loop. A command costs the driver and the server several times what one
 * document more in it does; under load many requests arrive in one turn, and a request by itself waits for nothing.
 *
 * @param work gives the result of each item, in their order, or what it becomes; an Error in place of one rejects that item alone. Where
 *   it throws, all are rejected
 */
export function grouped<T, R>(work: (items: readonly T[]) => Promise<readonly Result<R>[]>): (item: T) => Promise<R> {
  let waiting: Waiting<T, R>[] = [];

  async function run(group: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const results = await work(group.map(({ item }) => item));
      for (const [i, { resolve, reject }] of group.entries()) {
        const result = results[i] as Result<R>;
        if (result instanceof Error) reject(result);
        else resolve(result);
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  function runAll(): void {
    const all = waiting;
    waiting = [];
    for (let at = 0; at < all.length; at += MOST) void run(all.slice(at, at + MOST));
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (waiting.length === 1) setImmediate(runAll);
    });
}
