import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { cpuOf, memoryOf } from '../../bench/measuring/waits.js';
import { startKiln, type KilnProcess } from '../../service/kiln-process.js';
import { buildDist } from '../../workers/build-dist.js';

const MB = 1024 * 1024;
const TEXT = 'It says little at some length. '.repeat(50);

type Entry = object;

function put(id: string, more: object): Entry {
  return { resource: { resourceType: 'Patient', id, ...more }, request: { method: 'PUT', url: `Patient/${id}` } };
}

function create(more: object, ifNoneExist: string): Entry {
  return { resource: { resourceType: 'Patient', ...more }, request: { method: 'POST', url: 'Patient', ifNoneExist } };
}

/** Answer to a transaction, and the processor time that the server took for it, in milliseconds. */
interface Answered {
  readonly status: number;
  readonly text: string;
  readonly cpu: number;
}

/** A server for the tests of a `describe`. @param flags of `kiln serve`, beside its store */
function useServer(flags: readonly string[]): { pid(): number; send(entry: readonly Entry[]): Promise<Answered> } {
  let folder: string;
  let kiln: KilnProcess;
  let base: string;

  beforeAll(async () => {
    await buildDist();
    folder = mkdtempSync(join(tmpdir(), 'kiln-many-'));
    const store = `sqlite:${join(folder, 'kiln.db')}`;
    const args = ['--port', '0', '--validation', 'structure', '--store', store, '--log-level', 'error', ...flags];
    kiln = startKiln(['serve', ...args], 'dist', { NODE_OPTIONS: '--max-old-space-size=1500' });
    base = await kiln.started;
  });
  afterAll(async () => {
    kiln.child.kill('SIGKILL');
    await kiln.ended;
    rmSync(folder, { recursive: true });
  });

  const pid = (): number => kiln.child.pid!;
  return {
    pid,
    async send(entry) {
      const before = cpuOf(pid());
      const answer = await fetch(base, {
        method: 'POST',
        headers: { 'content-type': 'application/fhir+json' },
        body: JSON.stringify({ resourceType: 'Bundle', type: 'transaction', entry }),
      });
      const text = await answer.text();
      return { status: answer.status, text, cpu: cpuOf(pid()) - before };
    },
  };
}

const many = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

describe.skipIf(process.platform !== 'linux')('a transaction of thousands of conditional entries', () => {
  const { pid, send } = useServer([]);

  it.each([
    ['one criterion', () => 'gender=male', 200],
    ['a criterion each', (n: number) => `gender=male,x${n}`, 503],
  ])(
    'that thousands of resources fulfil, all of which it deletes, keeps to its memory: %s',
    async (_, criterion, status) => {
      const stored = many(2500, (n) => put(`old${n}`, { gender: 'male', name: [{ text: TEXT }] }));
      expect((await send(stored)).status).toBe(200);
      const before = memoryOf(pid()).now;
      const { status: got, text } = await send([
        ...many(2500, (n) => ({ request: { method: 'DELETE', url: `Patient/old${n}` } })),
        ...many(2500, (n) => create({ gender: 'female', identifier: [{ value: `n${n}` }] }, criterion(n))),
      ]);
      expect([got, text.slice(0, 500)]).toEqual([status, expect.anything()]);
      expect(memoryOf(pid()).peak - before).toBeLessThan(600 * MB);
    },
  );
});

describe.skipIf(process.platform !== 'linux')('thousands of conditional entries that no other is alike', () => {
  // On a busy machine the largest takes longer than a client usually waits.
  const { send } = useServer(['--limits-query-time', '2min']);

  /** Each has a criterion that no other fulfils. */
  const entriesOf = (first: number, size: number, criterion: (n: number) => string): readonly Entry[] =>
    many(size, (i) => {
      const n = first + i;
      const more = { active: true, birthDate: dayOf(n), name: [{ family: `Name${n}x`, given: ['Ann', 'Bea'] }] };
      return create({ ...more, identifier: [{ system: 'urn:x', value: `v${n}` }] }, criterion(n));
    });

  /** Sends again what is refused with 503: on a busy machine its searches take longer than other writes may wait for them. */
  async function sendUntilTaken(entries: readonly Entry[]) {
    let answer = await send(entries);
    for (let again = 0; again < 10 && answer.status === 503; again++) answer = await send(entries);
    return answer;
  }

  it('take time in proportion where one of two criteria is of an exact value', async () => {
    const cpu: number[] = [];
    for (const [round, size] of [625, 625, 1250, 2500].entries()) {
      const entries = entriesOf(100_000 + 10_000 * round, size, (n) => `active=true&identifier=urn:x|v${n}`);
      const { status, text, cpu: took } = await sendUntilTaken(entries);
      expect(status, text.slice(0, 500)).toBe(200);
      cpu.push(took);
    }
    process.stdout.write(`CPU of 625, 1,250, 2,500 entries, ms: ${cpu.slice(1).join(', ')}\n`);
    // In proportion it were four times, and 16 times where each is compared with all others.
    expect(cpu[3]! / cpu[1]!).toBeLessThan(8);
  });

  it.each([
    ['name', (n: number) => `name=Name${n}x`],
    ['birthdate', (n: number) => `birthdate=${dayOf(n)}`],
  ])('are executed up to 2,000, and refused as 5,000, by %s', async (name, criterion) => {
    const first = name === 'name' ? 200_000 : 300_000;
    expect((await sendUntilTaken(entriesOf(first, 2000, criterion))).status).toBe(200);
    const { status, text } = await sendUntilTaken(entriesOf(first + 10_000, 5000, criterion));
    expect([status, text.includes('search by identifier')], text.slice(0, 500)).toEqual([413, true]);
  });
});

/** Each has another. */
function dayOf(n: number): string {
  return new Date(Date.UTC(1000, 0, 1 + n)).toISOString().slice(0, 10);
}
