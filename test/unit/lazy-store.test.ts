import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));

it(
  'a server on SQLite loads no MongoDB driver, whose import takes a quarter of a start',
  { timeout: 60_000 },
  async () => {
    const program = `
    (async () => {
    const { openCore } = await import(${JSON.stringify(path('runtime/server.ts'))});
    const { readConfig } = await import(${JSON.stringify(path('runtime/config/read-config.ts'))});
    const core = await openCore(readConfig({ store: 'sqlite::memory:' }, {}).config);
    await core.store.counts();
    await core.store.close();
    const loaded = () => Object.keys(require.cache).filter((file) => /node_modules.mongodb./.test(file)).length;
    const before = loaded();
    await import('mongodb');
    console.log(JSON.stringify([before, loaded() > 0]));
    })();`;
    const args = ['--import', path('test/contract/run-typescript.mjs'), '-e', program];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: path('.') });
    expect(JSON.parse(stdout)).toEqual([0, true]);
  },
);
