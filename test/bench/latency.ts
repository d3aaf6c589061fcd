import { Agent } from 'node:http';

import { clinic } from './data/clinic.js';
import type { Bench, Row } from './measuring/row.js';
import { cpuOf } from './measuring/waits.js';
import { startKiln, STORE } from './servers/kiln-server.js';
import { requestKinds } from './servers/request-kinds.js';
import { sender, timesOf } from './servers/send.js';

const RESOURCES = 12_000;
/** Connections, each with one request at a time. */
const CLIENTS = 8;
/** How long a kind of request runs before it is measured, and then, in milliseconds. */
const [WARM_UP, RUN] = [1000, 3000];

/**
 * How long requests wait for their answers where eight clients keep a server busy that is a process of its own; the client and, with
 * `--store=mongodb://…`, the database share the cores with it. It runs `dist/`.
 */
export const bench: Bench = async () => {
  const records = clinic(RESOURCES);
  const resources = [...records.resources];
  const server = await startKiln('.', true, resources);
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  try {
    const send = sender(server.base, agent);
    const rows: Row[] = [];
    for (const { name, run } of requestKinds(resources, records)) {
      await timesOf(CLIENTS, () => run(send), WARM_UP);
      const before = cpuOf(server.pid);
      const times = await timesOf(CLIENTS, () => run(send), RUN);
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
