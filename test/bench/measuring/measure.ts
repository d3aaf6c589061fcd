import type { Measured } from './row.js';

/** Does some work and returns how many pieces it was; at least a few milliseconds of it, or the clock shows. */
export type Work = () => number | Promise<number>;

interface Pace {
  readonly rounds?: number;
  readonly roundMs?: number;
}

/** Measures `work` alone, after a round to warm up. */
export async function measure(work: Work, pace: Pace = {}): Promise<Measured> {
  const [measured] = await measureInTurn([work], pace);
  return measured!;
}

/** Measures `work` and its floor in turn, so that a neighbour's load or a slowing CPU falls on both alike. */
export async function compare(
  work: Work,
  floor: Work,
  pace: Pace = {},
): Promise<{ measured: Measured; floor: Measured }> {
  const [measured, base] = await measureInTurn([work, floor], pace);
  return { measured: measured!, floor: base! };
}

async function measureInTurn(works: readonly Work[], { rounds = 5, roundMs = 300 }: Pace): Promise<Measured[]> {
  const totals = works.map(() => ({ count: 0, wallMs: 0, cpuMs: 0 }));
  for (let round = 0; round <= rounds; round++) {
    for (const [i, work] of works.entries()) {
      const once = await runFor(work, roundMs);
      if (round === 0) continue; // warms up
      const total = totals[i]!;
      total.count += once.count;
      total.wallMs += once.wallMs;
      total.cpuMs += once.cpuMs;
    }
  }
  return totals;
}

async function runFor(work: Work, ms: number): Promise<Measured> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  let count = 0;
  let now = start;
  while (now - start < ms) {
    count += await work();
    now = performance.now();
  }
  const { user, system } = process.cpuUsage(cpu);
  return { count, wallMs: now - start, cpuMs: (user + system) / 1000 };
}
