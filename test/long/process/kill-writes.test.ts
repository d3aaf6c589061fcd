import Database from 'better-sqlite3';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';

import { openSqliteStore } from '../../../runtime/store/sqlite/sqlite-store.js';
import { startChild } from '../../contract/durability/children.js';
import { soak } from '../soak.js';

const KILLS = soak(10);

it(`kill -9 in a write load, ${KILLS} times: every acknowledged write is there, whole`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-kill-'));
  const file = join(folder, 'kiln.db');
  const acknowledged = new Map<string, number>();
  let killedInFlight = 0;
  try {
    for (let round = 0; round < KILLS; round++) {
      const child = await startChild(`sqlite:${file}`, 'load', `k${round}`, 100_000);
      child.begin();
      await sleep(300 + ((round * 137) % 700));
      child.process.kill('SIGKILL');
      expect(await child.ended).toBe('SIGKILL');
      for (const said of child.said) {
        const { id, version } = said as { id: string; version: number };
        acknowledged.set(id, Math.max(version, acknowledged.get(id) ?? 0));
      }

      const store = openSqliteStore(`sqlite:${file}`);
      const db = new Database(file);
      const codes = db.prepare<[string], string>(
        'SELECT t.code FROM resource r JOIN token t ON t.resource = r.key WHERE r.id = ?',
      );
      for (const [id, version] of acknowledged) {
        const current = await store.read('Patient', id);
        const twin = await store.read('Patient', `${id}-twin`);
        expect(current?.version, id).toBeGreaterThanOrEqual(version);
        // Both were written by one write each time.
        expect(twin?.version, id).toBe(current?.version);
        if ((current?.version ?? 0) > version) killedInFlight++;
        for (const key of [id, `${id}-twin`]) {
          expect(codes.pluck().all(key), key).toEqual([`t${(current?.version ?? 0) - 1}`]);
          if (!id.startsWith(`k${round}-`)) continue;
          const { total } = await store.history({ type: 'Patient', id: key, count: 0 });
          expect(total, key).toBe(current?.version);
        }
      }
      expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
      db.close();
      await store.close();
    }
    expect(acknowledged.size).toBeGreaterThan(KILLS);
    console.info(`${acknowledged.size} resources acknowledged, ${killedInFlight} further along than their client knew`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
