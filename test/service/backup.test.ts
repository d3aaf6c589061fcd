import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

import { openSqliteStore } from '../../runtime/store/sqlite/sqlite-store.js';
import { startKiln } from './kiln-process.js';

// Each test starts processes, from the sources, which takes seconds where others compete for the processor.
describe('kiln backup', { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-backup-'));
  const store = `sqlite:${join(folder, 'kiln.db')}`;
  const copy = join(folder, 'copy.db');
  afterAll(() => rmSync(folder, { recursive: true }));

  const run = async (...args: string[]) => {
    const kiln = startKiln(args);
    return { code: await kiln.ended, ...kiln.output };
  };

  it('copies one instant of a store that is written to, and the copy serves', async () => {
    const kiln = startKiln(['serve', '--port', '0', '--store', store, '--log-level', 'error']);
    const base = await kiln.started;
    const versions = new Map<string, string[]>();
    const acknowledged: string[] = [];
    const refused: number[] = [];
    let writing = true;
    const writer = (async () => {
      for (let i = 0; writing && i < 20_000; i++) {
        const id = `b${i % 100}`;
        const body = JSON.stringify({ resourceType: 'Basic', id, code: { text: `t${i}` } });
        const headers = { 'content-type': 'application/fhir+json' };
        const answer = await fetch(`${base}/Basic/${id}`, { method: 'PUT', headers, body });
        if (!answer.ok) refused.push(answer.status);
        const texts = versions.get(id) ?? [];
        texts.push(await answer.text());
        versions.set(id, texts);
        acknowledged.push(`${id}/${texts.length}`);
      }
    })();
    while (acknowledged.length < 300) await new Promise((resolve) => setTimeout(resolve, 20));
    const before = acknowledged.length;
    const result = await run('backup', copy, '--store', store);
    expect(result).toMatchObject({ code: 0, err: '' });
    expect(result.out).toMatch(/copy.db: [\d.]+ [kM]B in [\d.]+ s/);
    while (acknowledged.length < before + 20) await new Promise((resolve) => setTimeout(resolve, 20));
    writing = false;
    await writer;
    expect(refused).toEqual([]);
    kiln.child.kill('SIGTERM');
    expect(await kiln.ended).toBe(0);

    const restored = openSqliteStore(`sqlite:${copy}`);
    // What it has is a prefix of what was acknowledged, whole, and at least all from before it began.
    const present: boolean[] = [];
    for (const name of acknowledged) {
      const [id = '', version = ''] = name.split('/');
      const found = await restored.readVersion('Basic', id, Number(version));
      present.push(found !== undefined);
      if (found !== undefined) expect(found.json).toBe(versions.get(id)?.[Number(version) - 1]);
    }
    const end = present.indexOf(false) < 0 ? present.length : present.indexOf(false);
    expect(end).toBeGreaterThanOrEqual(before);
    expect(present.slice(end)).not.toContain(true);
    await restored.close();

    const served = startKiln(['serve', '--port', '0', '--store', `sqlite:${copy}`, '--log-level', 'error']);
    const answer = await fetch(`${await served.started}/Basic/b0/_history/1`);
    expect(await answer.text()).toBe(versions.get('b0')?.[0]);
    served.child.kill('SIGTERM');
    expect(await served.ended).toBe(0);
  });

  it.each(['kiln.db-journal', 'kiln.db-wal', 'kiln.db-shm', 'copy.db '])(
    'under the name %j SQLite deleted the copy, or nothing could open it: it is refused',
    async (name) => {
      await openSqliteStore(store).close();
      const before = readdirSync(folder);
      const result = await run('backup', join(folder, name), '--store', store);
      expect(result).toMatchObject({ code: 1, out: '' });
      expect(result.err).toMatch(/the name of a backup, ".*", may not/);
      expect(readdirSync(folder)).toEqual(before);
    },
  );

  it('a folder that is missing was told as a store that does not work', async () => {
    await openSqliteStore(store).close();
    const { code, err } = await run('backup', join(folder, 'none', 'x.db'), '--store', store);
    expect([code, err.trim()]).toEqual([1, `kiln: there is no folder ${join(folder, 'none')} to put the backup into`]);
  });

  it('writes over nothing, and makes no store to copy it', async () => {
    writeFileSync(join(folder, 'there.db'), '');
    expect(await run('backup', join(folder, 'there.db'), '--store', store)).toMatchObject({
      code: 1,
      err: expect.stringContaining('there already') as string,
    });
    expect(await run('backup', join(folder, 'x.db'), '--store', `sqlite:${folder}/none.db`)).toMatchObject({
      code: 1,
      err: expect.stringContaining('there is no store') as string,
    });
  });
});
