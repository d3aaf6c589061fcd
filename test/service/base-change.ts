import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';

import { runProgram } from '../../runtime/cli/program.js';
import { readConfig } from '../../runtime/config/read-config.js';
import { SILENT } from '../../runtime/observe/log.js';
import { startServer, type RunningServer } from '../../runtime/start-server.js';

const OTHER_BASE = 'References were indexed for another base URL';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const observation = (id: string, reference: string) => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  code: { text: 'x' },
  subject: { reference },
});

/**
 * References are indexed for the base URL that a server has by its configuration. One that comes with another says so, and goes on; a
 * reindexing mends it.
 */
export function baseChange(newStore: () => string): void {
  const warnings: string[] = [];
  const start = async (store: string, port: number): Promise<RunningServer> => {
    warnings.length = 0;
    const settings = { port: String(port), auth: 'open', 'audit-sink': 'off', store };
    return startServer(readConfig(settings, {}).config, { ...SILENT, warn: (text) => warnings.push(text) });
  };
  const put = async ({ url }: RunningServer, resource: { resourceType: string; id: string }): Promise<void> => {
    const { status } = await fetch(`${url}/${resource.resourceType}/${resource.id}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/fhir+json' },
      body: JSON.stringify(resource),
    });
    expect(status).toBe(201);
  };
  const found = async ({ url }: RunningServer, query: string): Promise<readonly string[]> => {
    const { entry = [] } = (await (await fetch(`${url}/Observation?${query}`)).json()) as {
      entry?: { resource: { id: string } }[];
    };
    return entry.map(({ resource }) => resource.id).sort();
  };
  const detail = async ({ url }: RunningServer): Promise<string | undefined> =>
    ((await (await fetch(new URL('/health/ready', url))).json()) as { detail?: string }).detail;
  const run = async (...args: string[]): Promise<{ readonly code: number; readonly err: readonly string[] }> => {
    const err: string[] = [];
    const code = await runProgram(args, { out: () => {}, err: (line: string) => void err.push(line), env: {} });
    return { code, err };
  };

  it('a changed base URL is told of until a reindexing has mended the entries', { timeout: 120_000 }, async () => {
    const store = newStore();
    const [before, after] = [await freePort(), await freePort()];
    const first = await start(store, before);
    expect(warnings).toEqual([]);
    await put(first, { resourceType: 'Patient', id: 'ann' });
    await put(first, observation('relative', 'Patient/ann'));
    await put(first, observation('before', `http://localhost:${before}/fhir/Patient/ann`));
    await put(first, observation('after', `https://127.0.0.1:${after}/fhir/Patient/ann`));
    expect(await found(first, 'subject=Patient/ann')).toEqual(['before', 'relative']);
    await first.close();

    // The same again has nothing to tell, nor has a command that is told neither URL nor port.
    const again = await start(store, before);
    expect([warnings, await detail(again)]).toEqual([[], undefined]);
    await again.close();
    expect((await run('reindex', '--store', store)).err).toEqual([expect.stringContaining('are current')]);

    const second = await start(store, after);
    expect(warnings).toEqual([expect.stringContaining(OTHER_BASE)]);
    expect(await detail(second)).toContain(OTHER_BASE);
    expect(await found(second, 'subject=Patient/ann')).toEqual(['before', 'relative']);
    const { code, err } = await run('reindex', '--store', store);
    expect([code, err]).toEqual([0, [expect.stringContaining(OTHER_BASE)]]);
    expect(await found(second, 'subject=Patient/ann')).toEqual(['after', 'relative']);
    expect(await found(second, 'subject:Patient._id=ann')).toEqual(['after', 'relative']);
    expect(await found(second, `subject=http://localhost:${before}/fhir/Patient/ann`)).toEqual(['before']);
    await expect.poll(() => detail(second), { timeout: 10_000 }).toBeUndefined();
    await second.close();

    const third = await start(store, after);
    expect(warnings).toEqual([]);
    await third.close();
  });

  it('of two servers with different ports on one store the second says so', { timeout: 60_000 }, async () => {
    const store = newStore();
    const one = await start(store, await freePort());
    await put(one, { resourceType: 'Patient', id: 'ann' });
    const other = await start(store, await freePort());
    expect(warnings).toEqual([expect.stringContaining(OTHER_BASE)]);
    await other.close();
    await one.close();
  });
}
