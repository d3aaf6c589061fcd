import { setImmediate } from 'node:timers/promises';

import type { Measured } from './row.js';

/** Rounds that let V8 compile what runs, as it has in a server that is up for a minute; and those that are measured. */
const WARM_UP = 4;
const MEASURED = 5;

/** Runs pieces of work and those of the floor in turn, one at a time, after some rounds to warm up. */
export async function inTurn(works: readonly Work[], floors: readonly Work[]): Promise<Compared> {
  const sides = [works, floors].map((list) => ({ list, times: [] as number[], cpuMs: 0 }));
  for (let round = 0; round < WARM_UP + MEASURED; round++) {
    for (const side of sides) {
      const cpu = process.cpuUsage();
      for (const work of side.list) {
        await setImmediate(); // each in a turn of its own, as requests come
        const start = performance.now();
        await work();
        if (round >= WARM_UP) side.times.push(performance.now() - start);
      }
      const { user, system } = process.cpuUsage(cpu);
      if (round >= WARM_UP) side.cpuMs += (user + system) / 1000;
    }
  }
  const [measured, floor] = sides.map(({ times, cpuMs }): Measured => {
    const sorted = times.toSorted((a, b) => a - b);
    const wallMs = sorted.reduce((sum, time) => sum + time, 0);
    const at = (share: number): number => sorted[Math.floor(sorted.length * share)]!;
    return { count: sorted.length, wallMs, cpuMs, times: { p50: at(0.5), p99: at(0.99) } };
  });
  return { measured: measured!, floor: floor! };
}

/** One piece of work. */
export type Work = () => Promise<unknown>;

/** What it took, and what the floor took. */
export interface Compared {
  readonly measured: Measured;
  readonly floor: Measured;
}
