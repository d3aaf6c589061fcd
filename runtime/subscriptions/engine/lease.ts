import type { SubscriptionRows } from './rows.js';

/** Times of the lease, in milliseconds. */
const TIMES = {
  /** How long a process may do without a sign of life. */
  lease: 10_000,
  beat: 2500,
  /** The holder stops so long before others may begin. */
  margin: 2000,
};

/** Parts that a lease is taken with. */
export interface LeaseParts {
  readonly rows: SubscriptionRows;
  /** Names this process; no other has the same. */
  readonly holder: string;
  /** Whether the process of this name is known to be dead. */
  readonly isGone: (holder: string) => boolean;
  readonly now: () => number;
}

/** The right of one process to match and to deliver. */
export interface Lease {
  /** Aborts when it is lost, or given back. */
  readonly signal: AbortSignal;
  /** Whether this process may act: asked right before something is sent, for the process may have been suspended. */
  isHeld(): boolean;
  release(): Promise<void>;
}

/** Takes the lease where it is free. @returns undefined: another process has it */
export async function takeLease({ rows, holder, isGone, now }: LeaseParts): Promise<Lease | undefined> {
  const present = await rows.lease();
  if (present !== undefined && present !== holder && !isGone(present)) return undefined;
  let until = performance.now() + TIMES.lease - TIMES.margin;
  if (!(await rows.swapLease(present, holder, now() + TIMES.lease))) return undefined;
  const end = new AbortController();
  const isHeld = (): boolean => !end.signal.aborted && performance.now() < until;

  async function beat(): Promise<void> {
    const next = performance.now() + TIMES.lease - TIMES.margin;
    try {
      if (await rows.swapLease(holder, holder, now() + TIMES.lease)) until = next;
      else end.abort();
    } catch {
      // The store is away for the moment: the lease outlasts some beats.
    }
    if (performance.now() >= until) end.abort();
  }

  const timer = setInterval(() => void beat(), TIMES.beat).unref();
  end.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  return {
    signal: end.signal,
    isHeld,
    async release() {
      end.abort();
      await rows.dropLease(holder).catch(() => {});
    },
  };
}
