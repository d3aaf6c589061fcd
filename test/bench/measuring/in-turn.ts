import { setImmediate } from 'node:timers/promises';

import type { Measured } from './row.js';

/** Rounds that let V8 compile what runs, as it has in a server that is up for a minute; and those that are measured. */
const WARM_UP = 4;
const MEASURED = 10;

/** Pieces of a side that are done one after the other: shorter together than what a processor is given for at a time. */
const SOME = 10;

/**
 * Runs pieces of work and those of the floor in turn, one at a time, after some rounds to warm up. Sides change after a few
 * milliseconds: so a time in which others have the processors falls on both alike.
 */
export async function inTurn(works: readonly Work[], floors: readonly Work[]): Promise<Compared> {
  const measured = openSide(works);
  const floor = openSide(floors);
  for (let round = 0; round < WARM_UP + MEASURED; round++) {
    for (let from = 0; from < Math.max(works.length, floors.length); from += SOME) {
      await measured.run(from, round >= WARM_UP);
      await floor.run(from, round >= WARM_UP);
    }
  }
  return { measured: measured.result(), floor: floor.result() };
}

function openSide(works: readonly Work[]) {
  const times: number[] = [];
  let cpuMs = 0;
  return {
    async run(from: number, isMeasured: boolean): Promise<void> {
      const cpu = process.cpuUsage();
      for (const work of works.slice(from, from + SOME)) {
        await setImmediate(); // each in a turn of its own, as requests come
        const start = performance.now();
        await work();
        if (isMeasured) times.push(performance.now() - start);
      }
      const { user, system } = process.cpuUsage(cpu);
      if (isMeasured) cpuMs += (user + system) / 1000;
    },
    result(): Measured {
      const sorted = times.toSorted((a, b) => a - b);
      const wallMs = sorted.reduce((sum, time) => sum + time, 0);
      const at = (share: number): number => sorted[Math.floor(sorted.length * share)]!;
      return { count: sorted.length, wallMs, cpuMs, times: { p50: at(0.5), p99: at(0.99) } };
    },
  };
}

/** One piece of work. */
export type Work = () => Promise<unknown>;

/** What it took, and what the floor took. */
export interface Compared {
  readonly measured: Measured;
  readonly floor: Measured;
}
