import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { describeOnMongod, newDatabase } from '../mongod/for-tests.js';
import { command } from '../service/auth.js';
import { startKiln, type KilnProcess } from '../service/kiln-process.js';
import { parameter } from '../service/stored-parameters-subject.js';

const CLIENTS = 8;
const headers = { 'content-type': 'application/fhir+json' };

/** How soon another process follows: by what it is told, and by what it finds by itself where whoever wrote is dead. */
const TOLD = { timeout: 2000, interval: 20 };
const FOUND = { timeout: 15_000, interval: 100 };

interface Counted {
  readonly total?: number;
  readonly entry?: readonly { readonly resource: { readonly resourceType: string } }[];
}

/** @param store that nobody has used */
function underLoad(store: string): void {
  let servers: KilnProcess[] = [];
  let bases: string[] = [];
  let written = 0;
  let isRunning = true;
  const wrong: string[] = [];
  let load: Promise<unknown>;

  const put = (base: string, resource: Readonly<Record<string, unknown>>) =>
    fetch(`${base}/${String(resource['resourceType'])}/${String(resource['id'])}`, {
      method: 'PUT',
      headers,
      body: JSON.stringify(resource),
    });
  const write = async (client: number): Promise<void> => {
    for (let i = 0; isRunning; i++) {
      // Each once: what is written again would be mended by that.
      const id = `${client}-${i}`;
      const base = bases[(client + i) % bases.length]!;
      const name = [{ given: [`Given${client}`, `again${i}`], family: `Family${i}` }];
      try {
        const { status } = await put(base, { resourceType: 'Patient', id, name });
        if (status === 200 || status === 201) written++;
        else wrong.push(`${id}: ${status}`);
      } catch {
        await sleep(20); // a server that was killed
      }
    }
  };
  /** Patients that a parameter misses; a warning counts as one. */
  const missed = async (base: string, code: string): Promise<number> => {
    const answer = await fetch(`${base}/Patient?${code}:missing=true&_summary=count`);
    if (answer.status !== 200) return Infinity;
    const { total = Infinity, entry = [] } = (await answer.json()) as Counted;
    return total + entry.length;
  };
  const isKnown = (base: string, code: string) => async () =>
    expect((await fetch(`${base}/Patient?${code}=x&_summary=count`)).status).toBe(200);

  beforeAll(async () => {
    servers = [0, 1].map(() => startKiln(['serve', '--port', '0', '--store', store, '--log-level', 'error'], 'dist'));
    bases = await Promise.all(servers.map(({ started }) => started));
    load = Promise.all(Array.from({ length: CLIENTS }, (_, client) => write(client)));
  });
  afterAll(async () => {
    isRunning = false;
    for (const { child } of servers) child.kill('SIGTERM');
    await Promise.all(servers.map(({ ended }) => ended));
  });

  it('none that was written while a parameter came, or was changed, is missed by it once the index is made anew', async () => {
    await sleep(1000);
    for (const round of [0, 1, 2]) {
      const code = `x-round${round}`;
      const plain = parameter(code, { type: 'string', expression: 'Patient.name.given' });
      expect((await put(bases[round % 2]!, plain)).status).toBe(201);
      const from = performance.now();
      await vi.waitFor(isKnown(bases[1 - (round % 2)]!, code), TOLD);
      console.info(`known to the other after ${(performance.now() - from).toFixed(0)} ms`);
      const changed = { ...plain, expression: "Patient.name.select(family & ' ' & given.first())" };
      expect((await put(bases[1 - (round % 2)]!, changed)).status).toBe(200);
      // At once: before the other server knows.
      expect(await command('reindex', '--store', store)).toMatchObject({ code: 0 });
      await sleep(500);
      for (const base of bases) await vi.waitFor(async () => expect(await missed(base, code)).toBe(0), FOUND);
    }
    expect(wrong).toEqual([]);
    console.info(`${written} written`);
  });

  it('nor where the server that put it into effect was killed', async () => {
    const killed = servers[0]!;
    expect(
      (await put(bases[0]!, parameter('x-last', { type: 'string', expression: 'Patient.name.family' }))).status,
    ).toBe(201);
    killed.child.kill('SIGKILL');
    await killed.ended;
    await vi.waitFor(isKnown(bases[1]!, 'x-last'), FOUND);
    expect(await command('reindex', '--store', store)).toMatchObject({ code: 0 });
    await vi.waitFor(async () => expect(await missed(bases[1]!, 'x-last')).toBe(0), FOUND);
    isRunning = false;
    await load;
    expect(await missed(bases[1]!, 'x-last')).toBe(0);
    expect(wrong).toEqual([]);
  });
}

describe('search parameters of a SQLite store, two processes under load', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-parameters-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  underLoad(`sqlite:${join(folder, 'kiln.db')}`);
});

describeOnMongod('search parameters of a MongoDB store, two processes under load', () => underLoad(newDatabase()));
