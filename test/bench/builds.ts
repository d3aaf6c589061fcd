import { Agent } from 'node:http';
import { setTimeout } from 'node:timers/promises';

import { clinic } from './data/clinic.js';
import type { Bench, Measured, Row } from './measuring/row.js';
import { cpuOf, MONGO_REST, processOf } from './measuring/waits.js';
import { BY_HAND, isByHand, startByHand, startKiln, STORE, type KilnServer } from './servers/kiln-server.js';
import { requestKinds, type RequestKind } from './servers/request-kinds.js';
import { besideWrites, sender, timesOf } from './servers/send.js';

const RESOURCES = 30_000;
/** Connections, each with one request at a time. */
const CLIENTS = 8;
/** How long each build runs a kind of request before it is measured, in milliseconds: until V8 has compiled it well. */
const WARM_UP = 4000;
/** Then the builds take turns of so many milliseconds. */
const [TURN, TURNS] = [1500, 3];

/**
 * This build against another one, whose checkout `--build=FOLDER` names: the same requests over HTTP to a server of each, and beside those
 * that read a client that writes ten resources of another type a second. Processor time is
 * that of the server and, with `--store=mongodb://…`, of the database. A server on SQLite asks for tokens and keeps its audit, as by default;
 * one on MongoDB is open. `--build=by-hand` is no build: node:http over tables or collections made for these requests, to see how little
 * they can take.
 */
export const bench: Bench = async () => {
  const other = process.env['KILN_BENCH_BUILD'];
  if (other === undefined) throw new Error('name the folder of another build: --build=FOLDER, or --build=by-hand');
  const records = clinic(RESOURCES);
  const resources = [...records.resources];
  const isOpen = STORE === 'MongoDB';
  const database = isOpen ? await processOf(process.env['KILN_BENCH_STORE']!) : undefined;
  const servers: KilnServer[] = [];
  try {
    servers.push(await startKiln('.', isOpen, resources));
    servers.push(await (other === BY_HAND ? startByHand(RESOURCES) : startKiln(other, isOpen, resources)));
    // Both get the same requests.
    const kinds = servers.map(() => requestKinds(resources, records));
    const rows: Row[] = [];
    // They were loaded just now.
    let hasWritten = true;
    for (const [n, { name, isWrite = false }] of kinds[0]!.entries()) {
      if (other === BY_HAND && !isByHand(name)) continue;
      if (isOpen && hasWritten && !isWrite) await setTimeout(MONGO_REST);
      hasWritten = isWrite;
      const [ours, theirs] = await inTurns(servers, (i) => kinds[i]![n]!, isOpen, database);
      const floor = { name: other === BY_HAND ? 'by hand' : 'the other build', measured: theirs! };
      rows.push({ name: `${STORE}: ${name}`, unit: 'requests', measured: ours!, floor });
    }
    return rows;
  } finally {
    for (const server of servers) await server.stop();
  }
};

async function inTurns(
  servers: readonly KilnServer[],
  kindOf: (server: number) => RequestKind,
  isOpen: boolean,
  database: number | undefined,
): Promise<Measured[]> {
  const totals = servers.map(() => ({ count: 0, wallMs: 0, cpuMs: 0 }));
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const sends = servers.map((server) => sender(server.base, agent, isOpen ? undefined : server.token()));
  const usedBy = (server: KilnServer): number => cpuOf(server.pid) + (database === undefined ? 0 : cpuOf(database));
  for (let turn = 0; turn <= TURNS; turn++) {
    for (const [i, server] of servers.entries()) {
      const before = usedBy(server);
      const start = performance.now();
      const { run, isWrite } = kindOf(i);
      const send = sends[i]!;
      const work = (): Promise<readonly number[]> => timesOf(CLIENTS, () => run(send), turn === 0 ? WARM_UP : TURN);
      const { length } = await (isWrite === true ? work() : besideWrites(send, work));
      if (turn === 0) continue;
      totals[i]!.count += length;
      totals[i]!.wallMs += performance.now() - start;
      totals[i]!.cpuMs += usedBy(server) - before;
    }
  }
  agent.destroy();
  return totals;
}
