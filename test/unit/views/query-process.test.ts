import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

import { openSqliteStore } from '../../../runtime/store/sqlite/sqlite-store.js';
import { startProcess } from '../../../runtime/views/query/start-process.js';
import { library } from '../../http/operations/query/library.js';
import { commandOf } from '../../workers/entries.mjs';

const folder = mkdtempSync(join(tmpdir(), 'kiln-query-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ENDLESS = 'WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT count(*) AS n FROM x';

/** What the system says of a process; undefined: it is gone. */
function about(pid: number | undefined, what: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${what}`, 'utf8');
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  const status = about(pid, 'status');
  return status !== undefined && !/^State:\s+Z/m.test(status);
}

async function until(isDone: () => boolean): Promise<void> {
  for (let i = 0; i < 1200 && !isDone(); i++) await pause(25);
  expect(isDone()).toBe(true);
}

describe.skipIf(process.platform !== 'linux')('the process of a query', () => {
  const answerOf = (child: ChildProcess): Promise<unknown> =>
    new Promise((resolve) => child.once('message', resolve).once('exit', () => resolve('exit')));

  it('knows nothing of the environment, and has a limit of memory', async () => {
    process.env['KILN_TEST_SECRET'] = 'secret';
    const child = startProcess();
    const answer = answerOf(child);
    child.send({ query: { sql: 'SELECT 1 AS n', values: {}, tables: [] }, views: [] });
    expect(await answer).toEqual({ columns: [{ name: 'n' }] });
    const names = (about(child.pid, 'environ') ?? '').split('\0').map((each) => each.split('=')[0]);
    expect(names.filter((name) => !/^(?:NODE_CHANNEL_.*|PWD|OLDPWD|SHLVL|_|)$/.test(name!))).toEqual([]);
    expect(about(child.pid, 'limits')).toMatch(/Max address space\s+\d+/);
    child.kill('SIGKILL');
  });

  it('ends when its channel closes', async () => {
    const child = startProcess();
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.disconnect();
    await ended;
  });

  it('ends with the server, also while a statement runs', async () => {
    const file = join(folder, 'endless.json');
    writeFileSync(file, JSON.stringify(library(ENDLESS)));
    const command = [fileURLToPath(commandOf(new URL('../../..', import.meta.url).href)), 'view', 'run', file];
    const store = `sqlite:${join(folder, 'kiln.db')}`;
    await openSqliteStore(store).close();
    const server = spawn(process.execPath, [...command, '--store', store], {
      stdio: 'ignore',
      env: { PATH: process.env['PATH'] },
    });
    const below = (): number[] => (about(server.pid, `task/${server.pid}/children`) ?? '').split(' ').filter(Boolean).map(Number); // prettier-ignore
    const time = (pid: number): number => Number(about(pid, 'stat')?.split(' ')[13] ?? 0);
    await until(() => below().some((pid) => time(pid) > 15));
    const children = below();
    server.kill('SIGKILL');
    await until(() => !children.some(isAlive));
  }, 60_000);
});
