import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';

import { startKiln } from '../../service/kiln-process.js';
import { createClient, type Send } from '../http-client.js';
import { faultsOf, type Shown } from '../ledger.js';
import { Servers } from '../servers.js';
import { historyPages, startWriteLoad, wholeHistory } from '../write-load.js';

/** Where a drill takes place. */
export interface Drill {
  /** A store that is empty. */
  readonly store: string;
  /** Another, into which the backup is restored. */
  readonly empty: string;
  /** How many servers write to the store. */
  readonly servers: number;
}

const run = async (...args: string[]) => {
  const kiln = startKiln(args);
  return { code: await kiln.ended, ...kiln.output };
};

const idOf = ({ type, id, version, token, lastUpdated }: Shown): string =>
  [type, id, version, token, lastUpdated].join(' ');

/** Ids of all resources of a type that a search finds, page by page. */
async function found(send: Send, base: string, query: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { entry = [] } of historyPages(send, base, query)) {
    ids.push(...entry.map(({ fullUrl }) => fullUrl.split('/').slice(-2).join('/')));
  }
  return ids.sort();
}

/** Ids of a type that the history says are there. */
function living(history: readonly Shown[], type: string): string[] {
  const last = new Map<string, Shown>();
  for (const shown of history) {
    const key = `${shown.type}/${shown.id}`;
    if ((last.get(key)?.version ?? 0) < shown.version) last.set(key, shown);
  }
  const alive = [...last].filter(([, shown]) => shown.token !== undefined && shown.type === type);
  return alive.map(([key]) => key).sort();
}

/** The test: a backup under load, restored, has all that was acknowledged before it, and searches find it. */
export function itIsRestored(prepare: () => Promise<Drill>): void {
  it('a backup under load, restored, is one instant of the store with all that was acknowledged', async () => {
    const { store, empty, servers: count } = await prepare();
    const folder = mkdtempSync(join(tmpdir(), 'kiln-drill-'));
    const file = join(folder, 'backup.db');
    const send = createClient(8, 60_000);
    const servers = Array.from({ length: count }, () => new Servers(store));
    const restored = new Servers(empty);
    try {
      for (const server of servers) await server.start();
      const load = startWriteLoad(servers, 8);
      while (load.acknowledged.length < 1500) await sleep(20);
      const before = load.acknowledged.length;
      expect(await run('backup', file, '--store', store)).toMatchObject({ code: 0 });
      const after = load.acknowledged.length;
      while (load.acknowledged.length < after + 50) await sleep(20);
      await load.stop();
      expect(load.wrong).toEqual([]);
      const original = new Set((await wholeHistory(send, servers[0]!.base)).map(idOf));

      expect(await run('restore', file, '--store', empty)).toMatchObject({ code: 0 });
      await restored.start();
      const { base } = restored;
      const history = await wholeHistory(send, base);
      // Whole: nothing acknowledged is lost, no version is left out, and nothing is there that never was.
      expect(faultsOf(load.acknowledged.slice(0, before), history)).toEqual([]);
      expect(history.filter((shown) => !original.has(idOf(shown)))).toEqual([]);
      expect(history.length).toBeLessThan(original.size);
      for (const type of ['Patient', 'Observation']) {
        expect(await found(send, base, `/${type}?_count=500`)).toEqual(living(history, type));
      }
      for (const { type, id, token } of history.filter((shown) => shown.type === 'Observation').slice(-20)) {
        expect(await found(send, base, `/${type}?identifier=urn:token|${token}`)).toEqual([`${type}/${id}`]);
      }
      // One instant: what came before a version that is there is there too.
      const times = history.map(({ lastUpdated }) => Date.parse(lastUpdated));
      const latest = times.reduce((one, other) => Math.max(one, other));
      const missed = [...original].filter((shown) => !history.some((other) => idOf(other) === shown));
      const early = missed.filter((shown) => Date.parse(shown.split(' ').at(-1)!) < latest - 1000);
      expect(early).toEqual([]);

      const again = await run('restore', file, '--store', empty);
      expect(again).toMatchObject({ code: 1 });
      expect(again.err).toMatch(/is there already; restore into a new file|the target is not/);
    } finally {
      send.close();
      for (const server of [...servers, restored]) await server.end();
      rmSync(folder, { recursive: true });
    }
  });
}
