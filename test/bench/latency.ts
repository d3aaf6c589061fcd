import { Agent } from 'node:http';
import { setTimeout } from 'node:timers/promises';

import { clinic } from './data/clinic.js';
import type { Bench, Row } from './measuring/row.js';
import { cpuOf, MONGO_REST } from './measuring/waits.js';
import { BY_HAND, isByHand, startByHand, startKiln, STORE } from './servers/kiln-server.js';
import { requestKinds } from './servers/request-kinds.js';
import { besideWrites, sender, timesOf, type Send } from './servers/send.js';

const RESOURCES = 12_000;
/** Connections, each with one request at a time. */
const CLIENTS = 8;
/** How long a kind of request runs before it is measured, and then, in milliseconds. */
const [WARM_UP, RUN] = [1000, 3000];

/**
 * How long requests wait for their answers where eight clients keep a server busy that is a process of its own, and beside those that read
 * another client writes ten resources of another type a second; the client and, with
 * `--store=mongodb://…`, the database share the cores with it. It runs `dist/`; with `--build=by-hand` it is the server of a few lines of
 * `builds`.
 */
export const bench: Bench = async () => {
  const records = clinic(RESOURCES);
  const resources = [...records.resources];
  const isHand = process.env['KILN_BENCH_BUILD'] === BY_HAND;
  const server = await (isHand ? startByHand(RESOURCES) : startKiln('.', true, resources));
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  try {
    const rows: Row[] = [];
    // They were loaded just now.
    let hasWritten = true;
    for (const { name, run, isWrite = false } of requestKinds(resources, records)) {
      if (isHand && !isByHand(name)) continue;
      if (STORE === 'MongoDB' && hasWritten && !isWrite) await setTimeout(MONGO_REST);
      hasWritten = isWrite;
      const plain = sender(server.base, agent);
      const beside = <T>(work: () => Promise<T>): Promise<T> => (isWrite ? work() : besideWrites(plain, work));
      await beside(() => timesOf(CLIENTS, () => run(plain), WARM_UP));
      const times: number[] = [];
      const send = timed(plain, times);
      const before = cpuOf(server.pid);
      await beside(() => timesOf(CLIENTS, () => run(send), RUN));
      times.sort((a, b) => a - b);
      const at = (share: number): number => times[Math.floor(times.length * share)]!;
      rows.push({
        name: `${STORE}, 8 clients: ${name}`,
        unit: 'requests',
        measured: {
          count: times.length,
          wallMs: RUN,
          cpuMs: cpuOf(server.pid) - before,
          times: { p50: at(0.5), p99: at(0.99), longest: times.at(-1)! },
        },
      });
    }
    return rows;
  } finally {
    agent.destroy();
    await server.stop();
  }
};

/** The same; notes how long each request takes, in milliseconds. */
function timed(send: Send, times: number[]): Send {
  return async (...request) => {
    const start = performance.now();
    const answer = await send(...request);
    times.push(performance.now() - start);
    return answer;
  };
}
