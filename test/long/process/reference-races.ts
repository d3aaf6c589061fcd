import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { startKiln, type KilnProcess } from '../../service/kiln-process.js';
import { soak } from '../soak.js';

const PAIRS = 200;
/** Pairs that are on their way at a time. */
const AT_ONCE = 10;
/** Processes that are killed while they write. */
const KILLS = soak(5);
const HEADERS = { 'content-type': 'application/fhir+json' };

/**
 * Two processes of which one deletes what the other refers to at the same moment never leave a reference that leads to nothing, nor does
 * one that is killed meanwhile.
 *
 * @param makeStore given a folder for files
 */
export function referenceRaces(makeStore: (folder: string) => string): void {
  let folder: string;
  let store: string;
  let servers: KilnProcess[];
  let bases: string[];

  const serve = (): KilnProcess =>
    startKiln(['serve', '--auth', 'open', '--port', '0', '--store', store, '--integrity', 'enforced']);
  const send = async (base: string, method: string, path: string, body?: object): Promise<number> => {
    const answer = await fetch(`${base}/${path}`, {
      method,
      ...(body !== undefined && { headers: HEADERS, body: JSON.stringify(body) }),
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  const put = (base: string, type: string, id: string, more: object = {}): Promise<number> =>
    send(base, 'PUT', `${type}/${id}`, { resourceType: type, id, ...more });
  const refer = (base: string, id: string, to: string): Promise<number> =>
    put(base, 'Basic', id, { code: { text: 'x' }, subject: { reference: to } });
  const dangling = async (): Promise<string> => {
    const check = startKiln(['check', 'references', '--store', store]);
    await check.ended;
    expect(check.output.err).toContain('lead to nothing');
    return check.output.out;
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kiln-races-'));
    store = makeStore(folder);
    servers = [serve(), serve()];
    bases = await Promise.all(servers.map(({ started }) => started));
  }, 120_000);
  afterAll(async () => {
    for (const { child } of servers) child.kill('SIGTERM');
    await Promise.all(servers.map(({ ended }) => ended));
    rmSync(folder, { recursive: true });
  });

  it(`of ${PAIRS} pairs one of the two is refused`, { timeout: 240_000 }, async () => {
    const results: string[] = [];
    for (let from = 0; from < PAIRS; from += AT_ONCE) {
      await Promise.all(
        Array.from({ length: AT_ONCE }, async (_, i) => {
          const n = from + i;
          const [one = '', other = ''] = n % 2 === 0 ? bases : [...bases].reverse();
          expect(await put(one, 'Patient', `t${n}`)).toBe(201);
          const both = await Promise.all([
            send(one, 'DELETE', `Patient/t${n}`),
            refer(other, `r${n}`, `Patient/t${n}`),
          ]);
          results.push(both.join());
        }),
      );
    }
    for (const result of results) expect(['200,409', '409,201']).toContain(result);
    expect(await dangling()).toBe('');
  });

  it(`nor is anything left by a process that is killed, ${KILLS} times`, { timeout: 480_000 }, async () => {
    for (let kill = 0; kill < KILLS; kill++) {
      const [one = '', other = ''] = bases;
      const name = (n: number): string => `k${kill}-${n}`;
      for (let n = 0; n < 40; n++) expect(await put(one, 'Patient', name(n))).toBeLessThan(300);
      const work = Promise.allSettled(
        Array.from({ length: 40 }, async (_, n) => {
          await sleep(n * 5);
          const [deletes, refers] = n % 2 === 0 ? [one, other] : [other, one];
          const deletion = send(deletes, 'DELETE', `Patient/${name(n)}`);
          await Promise.allSettled([deletion, refer(refers, `r${name(n)}`, `Patient/${name(n)}`)]);
        }),
      );
      // Each time at another place between what is looked for and what is written.
      await sleep(60 + ((kill * 37) % 120));
      servers[1]!.child.kill('SIGKILL');
      await servers[1]!.ended;
      await work;
      expect(await dangling()).toBe('');
      servers[1] = serve();
      bases[1] = await servers[1].started;
    }
  });
}
