import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { atMost } from '../../at-most.js';
import { middleOf } from '../../middle-of.js';
import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { command } from '../../service/auth.js';
import { startKiln, type KilnProcess } from '../../service/kiln-process.js';
import { buildDist } from '../../workers/build-dist.js';
import { parameter } from '../../service/stored-parameters/stored-parameters-subject.js';
import { KINDS, patientOf, SHAPES, type Shape } from './stored-shapes.js';

const CLIENTS = 8;
/** Of each client between two writes, in milliseconds. */
const PAUSE = 100;
/** Of each of those who look all the time, so that the servers get on with what is looked at, in milliseconds. */
const GLANCE = 10;
const headers = { 'content-type': 'application/fhir+json' };

/** How soon another process knows a definition, in milliseconds: the middle of all times, as a busy machine makes some much longer. */
const SOON = 2000;
const KNOWN = { timeout: 30_000, interval: 20 };

/** How soon what was written before is found, and a process finds by itself what one that was killed had written. */
const waiting = () => ({ timeout: atMost(15_000), interval: 100 });

interface Counted {
  readonly total?: number;
  readonly entry?: readonly { readonly resource: { readonly resourceType: string } }[];
}

interface Found {
  readonly link?: readonly { readonly relation: string }[];
  readonly entry?: readonly {
    readonly resource: { readonly id: string };
    readonly search: { readonly mode: string };
  }[];
}

/** What a search finds of a kind; else: in words. */
type Seen = string;

/** What searches may see while definitions change. */
const SAID: ReadonlySet<Seen> = new Set(['all', 'none', 'warned', 'unknown']);

function kindOf(id: string): number {
  const [client = 0, i = 0] = id.split('-').map(Number);
  return (client * 7 + i) % KINDS;
}

/** @param store that nobody has used */
function underLoad(store: string): void {
  let servers: KilnProcess[] = [];
  let bases: string[] = [];
  /** Ids of the Patients that have been written, by kind. */
  const there = Array.from({ length: KINDS }, () => new Set<string>());
  let isRunning = true;
  const wrong: string[] = [];
  let load: Promise<unknown>;

  const put = (base: string, resource: Readonly<Record<string, unknown>>) =>
    fetch(`${base}/${String(resource['resourceType'])}/${String(resource['id'])}`, {
      method: 'PUT',
      headers,
      body: JSON.stringify(resource),
    });
  const remove = (base: string, code: string) => fetch(`${base}/SearchParameter/${code}`, { method: 'DELETE' });
  const write = async (client: number): Promise<void> => {
    for (let i = 0; isRunning; i++) {
      // Each once: what is written again would be mended by that.
      const id = `${client}-${i}`;
      const base = bases[(client + i) % bases.length]!;
      const kind = kindOf(id);
      try {
        const { status } = await put(base, patientOf(id, kind));
        if (status === 200 || status === 201) there[kind]!.add(id);
        else wrong.push(`${id}: ${status}`);
        // There is more to be seen to than this.
        await sleep(PAUSE);
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
  /** What a search without warnings found of a kind: all that had been written before, nothing, or something else. */
  const look = async (base: string, code: string, way: Shape['first'], kind: number): Promise<Seen> => {
    const before = [...there[kind]!];
    const answer = await fetch(`${base}/Patient?${code}${way.value(kind)}&_count=1000&_elements=id`);
    const { link = [], entry = [] } = (await answer.json()) as Found;
    if (answer.status !== 200) return answer.status === 400 ? 'unknown' : 'failed';
    if (entry.some(({ search: { mode } }) => mode === 'outcome')) return 'warned';
    if (link.some(({ relation }) => relation === 'next')) throw new Error('more than a page');
    const found = entry.map(({ resource: { id } }) => id);
    if (found.length === 0) return 'none';
    const isRight = found.every((id) => kindOf(id) === kind) && before.every((id) => found.includes(id));
    return isRight ? 'all' : `${found.length} found, ${before.length} written before`;
  };
  /** What searches by both definitions of a parameter find of all kinds, on both servers. */
  const settled = async ({ code, first, second }: Shape, is: readonly [Seen, Seen]): Promise<void> => {
    for (const base of bases) {
      for (const kind of [0, 17, KINDS - 1]) {
        const seen = [await look(base, code, first, kind), await look(base, code, second, kind)];
        expect(seen, `${code} ${kind}`).toEqual(is);
      }
    }
  };
  const isKnown = (base: string, code: string) => async () =>
    expect((await fetch(`${base}/Patient?${code}=x&_summary=count`)).status).toBe(200);

  beforeAll(async () => {
    await buildDist();
    servers = [0, 1].map(() =>
      startKiln(
        ['serve', '--port', '0', '--validation', 'structure', '--store', store, '--log-level', 'error'],
        'dist',
      ),
    );
    bases = await Promise.all(servers.map(({ started }) => started));
    load = Promise.all(Array.from({ length: CLIENTS }, (_, client) => write(client)));
  });
  afterAll(async () => {
    isRunning = false;
    for (const { child } of servers) child.kill('SIGTERM');
    await Promise.all(servers.map(({ ended }) => ended));
  });

  it('ten of different shapes come, change and go, and no search is wrong without saying so', async () => {
    const counts = new Map<string, number>();
    const unsaid: string[] = [];
    let isOver = false;
    /** The definitions that may be in effect somewhere. */
    let holding: readonly ('first' | 'second')[] = ['first'];
    const watch = async (base: string): Promise<void> => {
      for (let n = 0; !isOver; n++) {
        const shape = SHAPES[n % SHAPES.length]!;
        const by = n % 3 === 0 ? 'second' : 'first';
        const kind = (n * 13) % KINDS;
        const before = holding;
        const seen = await look(base, shape.code, shape[by], kind);
        counts.set(seen, (counts.get(seen) ?? 0) + 1);
        // All are found by the definition that they are asked by, and none by the other; nothing in between, at no time.
        const held = new Set([...before, ...holding]);
        const other = by === 'first' ? 'second' : 'first';
        const isRight = seen === 'all' ? held.has(by) : seen === 'none' ? held.has(other) : SAID.has(seen);
        if (!isRight) unsaid.push(`${shape.code}${shape[by].value(kind)}: ${seen}`);
        await sleep(GLANCE);
      }
    };
    const watched = Promise.all(bases.map(watch));
    const all = async (act: (shape: Shape, base: string) => Promise<unknown>): Promise<void> => {
      for (const [n, each] of SHAPES.entries()) await act(each, bases[n % 2]!);
    };
    const reindexed = async (is: readonly [Seen, Seen]): Promise<void> => {
      expect(await command('reindex', '--store', store)).toMatchObject({ code: 0 });
      for (const each of SHAPES) await vi.waitFor(() => settled(each, is), waiting());
    };
    try {
      await vi.waitFor(() => expect(there.filter(({ size }) => size === 0)).toEqual([]), waiting());
      await all(async ({ first }, base) => expect((await put(base, first.definition)).status).toBe(201));
      // Not made anew yet: each says so.
      const times: number[] = [];
      for (const { code, first } of SHAPES) {
        for (const base of bases) {
          times.push(await timeUntil(async () => expect(await look(base, code, first, 3)).not.toBe('unknown')));
          expect(await look(base, code, first, 3), code).toBe('warned');
        }
      }
      expect(middleOf(times)).toBeLessThan(SOON);
      await reindexed(['all', 'none']);
      holding = ['first', 'second'];
      await all(async ({ second }, base) => expect((await put(base, second.definition)).status).toBe(200));
      await reindexed(['none', 'all']);
      holding = ['second'];
      await all(async ({ code, second }, base) => {
        const { status } = code.length % 2 === 0 ? await put(base, { ...second.definition, status: 'retired' }) : await remove(base, code); // prettier-ignore
        expect(status).toBe(200);
      });
      for (const each of SHAPES) await vi.waitFor(() => settled(each, ['unknown', 'unknown']), waiting());
      holding = ['first'];
      // And come back, with what is there of them still not to be relied on.
      await all(async ({ first }, base) => expect((await put(base, first.definition)).status).toBeLessThan(202));
      await reindexed(['all', 'none']);
      await all(async ({ code }, base) => expect((await remove(base, code)).status).toBe(200));
    } finally {
      isOver = true;
      await watched;
    }
    console.info('seen', Object.fromEntries(counts));
    expect(unsaid).toEqual([]);
    expect(wrong).toEqual([]);
    for (const each of SAID) expect(counts.get(each), each).toBeGreaterThan(0);
  });

  it('none that was written while a parameter came, or was changed, is missed by it once the index is made anew', async () => {
    await sleep(1000);
    const times: number[] = [];
    for (const round of [0, 1, 2]) {
      const code = `x-round${round}`;
      const plain = parameter(code, { type: 'string', expression: 'Patient.name.given' });
      expect((await put(bases[round % 2]!, plain)).status).toBe(201);
      times.push(await timeUntil(isKnown(bases[1 - (round % 2)]!, code)));
      const changed = { ...plain, expression: "Patient.name.select(family & ' ' & given.first())" };
      expect((await put(bases[1 - (round % 2)]!, changed)).status).toBe(200);
      // At once: before the other server knows.
      expect(await command('reindex', '--store', store)).toMatchObject({ code: 0 });
      await sleep(500);
      for (const base of bases) await vi.waitFor(async () => expect(await missed(base, code)).toBe(0), waiting());
    }
    console.info(`known to the other after ${times.map(Math.round).join(', ')} ms`);
    expect(middleOf(times)).toBeLessThan(SOON);
    expect(wrong).toEqual([]);
    console.info(`${there.reduce((sum, { size }) => sum + size, 0)} written`);
  });

  it('nor where the server that put it into effect was killed', async () => {
    const killed = servers[0]!;
    expect(
      (await put(bases[0]!, parameter('x-last', { type: 'string', expression: 'Patient.name.family' }))).status,
    ).toBe(201);
    killed.child.kill('SIGKILL');
    await killed.ended;
    await vi.waitFor(isKnown(bases[1]!, 'x-last'), waiting());
    expect(await command('reindex', '--store', store)).toMatchObject({ code: 0 });
    await vi.waitFor(async () => expect(await missed(bases[1]!, 'x-last')).toBe(0), waiting());
    isRunning = false;
    await load;
    expect(await missed(bases[1]!, 'x-last')).toBe(0);
    expect(wrong).toEqual([]);
  });
}

/** @returns how long it took until the assertion held, in milliseconds */
async function timeUntil(assertion: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await vi.waitFor(assertion, KNOWN);
  return performance.now() - from;
}

describe('search parameters of a SQLite store, two processes under load', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-parameters-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  underLoad(`sqlite:${join(folder, 'kiln.db')}`);
});

describeOnMongod('search parameters of a MongoDB store, two processes under load', () => underLoad(newDatabase()));
