import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startKiln, type KilnProcess } from '../service/kiln-process.js';
import { commandOf } from '../workers/entries.mjs';
import { faultsOf } from './faults.js';
import { blocksOf, pagesWithCommands, readBlocks, ROOT } from './pages.js';
import { runCommands, type Place } from './run-commands.js';

/** Pages whose commands get tokens; those of all others need a server without authorization. */
const GUARDED = new Set(['README.md', 'docs/authorization.md', 'docs/tutorial.md']);

describe('commands in the documentation', () => {
  const kiln = [process.execPath, commandOf(ROOT).pathname];
  const servers: KilnProcess[] = [];
  const places: Place[] = [];

  async function start(auth: 'open' | 'smart'): Promise<Place> {
    const folder = mkdtempSync(join(tmpdir(), 'kiln-docs-'));
    const options = [
      '--auth',
      auth,
      '--port',
      '0',
      '--store',
      `sqlite:${folder}/data/kiln.db`,
      '--admin-expunge',
      'true',
    ];
    const server = startKiln(['serve', ...options]);
    servers.push(server);
    const place = { folder, port: Number(new URL(await server.started).port), kiln };
    places.push(place);
    const loaded = await runCommands(blocksOf('# Demo\n\n```sh\nnpm run demo\n```\n'), place);
    expect(loaded.failures, loaded.output).toEqual([]);
    return place;
  }

  let open: Place;
  let guarded: Place;
  beforeAll(async () => {
    open = await start('open');
    guarded = await start('smart');
  });
  afterAll(async () => {
    for (const { child } of servers) child.kill();
    await Promise.all(servers.map(({ ended }) => ended));
    for (const { folder } of places) rmSync(folder, { recursive: true });
  });

  it.each(pagesWithCommands())(
    '%s: they succeed, and their searches find something',
    { timeout: 180_000 },
    async (page) => {
      const blocks = readBlocks(page);
      if (blocks.every(({ reason }) => reason !== undefined)) return;
      const run = await runCommands(blocks, GUARDED.has(page) ? guarded : open);
      expect(faultsOf(blocks, run), run.output.slice(-4000)).toEqual([]);
    },
  );
});

describe('the check of commands', () => {
  const block = (text: string) => blocksOf(`# Page\n\n\`\`\`sh\n${text}\n\`\`\`\n`);
  const searchset = (entries: number) =>
    JSON.stringify({
      resourceType: 'Bundle',
      type: 'searchset',
      entry: Array(entries).fill({ search: { mode: 'match' } }),
    });
  const faults = (text: string, status: number, body = '', failures: string[] = []) =>
    faultsOf(block(text), { requests: [{ line: 4, status, body }], lines: [4], failures, output: '' });

  it.each([
    ['a status that the page does not announce', 'curl x', 404, ''],
    ['another status than the page announces', 'curl x # 412: several', 200, ''],
    ['a search without matches', 'curl x', 200, searchset(0)],
  ])('reports %s', (_, text, status, body) => {
    expect(faults(text, status, body)).toHaveLength(1);
  });

  it('reports a curl that was never called', () => {
    expect(faultsOf(block('curl x'), { requests: [], lines: [4], failures: [], output: '' })).toHaveLength(1);
  });

  it('reports commands that fail', () => {
    expect(faults('curl x', 200, '', ['line 4: exit code 1: false'])).toHaveLength(1);
  });

  it.each([
    ['an announced status, in a line of the command', 'curl x \\\n  -d y # 412: several', 412, ''],
    ['a search with matches', 'curl x', 200, searchset(1)],
    ['a search that the page says finds nothing', 'curl x # finds nothing', 200, searchset(0)],
  ])('accepts %s', (_, text, status, body) => {
    expect(faults(text, status, body)).toEqual([]);
  });

  it('skips a block with a reason, and no block after it', () => {
    const blocks = blocksOf('<!-- not run: slow -->\n\n```sh\na\n```\n\n```sh\nb\n```\n');
    expect(blocks.map(({ reason }) => reason)).toEqual(['slow', undefined]);
  });
});
