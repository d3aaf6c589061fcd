import { afterEach, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { NONE_NEEDED } from '../../../runtime/auth/access/needed-scopes.js';
import { Principal } from '../../../runtime/auth/scopes/principal.js';
import type { Job } from '../../../runtime/core/jobs.js';
import type { Services } from '../../../runtime/core/services.js';
import { FhirError } from '../../../runtime/fhir/errors.js';
import { createJobEngine, type JobEngine, type JobEngineOptions } from '../../../runtime/jobs/engine/engine.js';
import type { ChunkContext, ChunkResult, JobKind } from '../../../runtime/jobs/engine/job-kind.js';
import { JOB_MAP } from '../../../runtime/jobs/engine/job-rows.js';
import { createToyStore, type ToyStore } from '../../toy/store.js';
import { accessOf } from '../auth/scopes-setup.js';
import { createFakeClock, settled, type FakeClock } from '../store/mongo/fake-clock.js';

const OWNER = Principal.ofClient({ clientId: 'one', scope: '', access: accessOf('') });
const DAY = 24 * 3600_000;

interface World {
  readonly clock: FakeClock;
  readonly store: ToyStore;
  /** Chunks that were done, in their order: which, and in which process. */
  readonly done: string[];
  readonly discarded: string[];
  readonly events: string[];
  readonly errors: unknown[];
  chunk(context: ChunkContext): Promise<ChunkResult>;
  process(holder: string, options?: Partial<JobEngineOptions>): JobEngine;
}

const engines: JobEngine[] = [];

function createWorld(chunk: (context: ChunkContext, world: World, holder: string) => Promise<ChunkResult>): World {
  const clock = createFakeClock();
  let ids = 0;
  const world: World = {
    clock,
    store: createToyStore(clock.now),
    done: [],
    discarded: [],
    events: [],
    errors: [],
    chunk: (context) => chunk(context, world, ''),
    process(holder, options = {}) {
      const kind: JobKind = {
        type: 'count',
        retention: DAY,
        chunk: (context) => chunk(context, world, holder),
        discard: (job) => Promise.resolve(void world.discarded.push(job.id)),
      };
      const engine = createJobEngine({
        store: world.store,
        kinds: [kind],
        services: () => ({ tables }) as unknown as Services,
        principalOf: () => Promise.resolve(OWNER),
        holder,
        newId: () => `job-${++ids}`,
        clock,
        onEvent: (event, job) => world.events.push(`${event} ${job.id} in ${holder}`),
        onError: (error) => world.errors.push(error),
        ...options,
      });
      engines.push(engine);
      return engine;
    },
  };
  return world;
}

afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
});

/** Counts to `input.to`, a chunk a number. */
async function count({ job, sleep }: ChunkContext, world: World, holder: string): Promise<ChunkResult> {
  const next = Number(job.checkpoint?.['at'] ?? 0) + 1;
  await sleep(1000);
  world.done.push(`${next} in ${holder}`);
  const to = Number(job.input['to']);
  const progress = { done: next, total: to, unit: 'numbers' };
  return { checkpoint: { at: next }, progress, ...(next === to && { result: { sum: next } }) };
}

async function stored(world: World, id: string): Promise<Job> {
  return JSON.parse((await world.store.maps.get(JOB_MAP, id))!) as Job;
}

describe('a job', () => {
  it('starts at once, saves a checkpoint after each chunk, and ends with its result', async () => {
    const world = createWorld(count);
    const engine = world.process('a');
    const { id, state } = await engine.start('count', { to: 3 }, OWNER, NONE_NEEDED);
    expect(state).toBe('queued');
    await settled();
    expect(await stored(world, id)).toMatchObject({ state: 'in-progress', run: 1, lease: { holder: 'a' } });
    await world.clock.advance(1000);
    expect(await stored(world, id)).toMatchObject({ checkpoint: { at: 1 }, progress: { done: 1, total: 3 } });
    await world.clock.advance(2000);
    const ended = await stored(world, id);
    expect(ended).toMatchObject({ state: 'completed', result: { sum: 3 }, failures: 0 });
    expect(ended.lease).toBeUndefined();
    expect(world.done).toEqual(['1 in a', '2 in a', '3 in a']);
    expect(world.events).toEqual([`started ${id} in a`, `completed ${id} in a`]);
    expect(world.discarded).toEqual([]);
  });

  it('ends within a long step, too, when its client is registered no more', async () => {
    const ended: string[] = [];
    const world = createWorld(async ({ sleep, signal }, { done }) => {
      signal.addEventListener('abort', () => void ended.push(String(signal.reason)), { once: true });
      await sleep(60_000);
      done.push('all');
      return { result: {} };
    });
    let isRegistered = true;
    const removed = new FhirError('access-denied', 'The client is removed');
    const principalOf = () => (isRegistered ? Promise.resolve(OWNER) : Promise.reject(removed));
    const { id } = await world.process('a', { principalOf }).start('count', {}, OWNER, NONE_NEEDED);
    await world.clock.advance(6000);
    isRegistered = false;
    await world.clock.advance(5000);
    expect(await stored(world, id)).toMatchObject({ state: 'failed', failure: 'The client is removed' });
    expect([ended.length, world.done]).toEqual([1, []]);
  });

  it('is written anew after each chunk, also where its checkpoint is the same: the time of an idle MongoDB stands still otherwise', async () => {
    const world = createWorld(async ({ sleep }) => {
      await sleep(500);
      return { checkpoint: { phase: 'settle' } };
    });
    const { id } = await world.process('a').start('count', {}, OWNER, NONE_NEEDED);
    const texts = new Set<string | undefined>();
    for (let chunk = 0; chunk < 4; chunk++) {
      await world.clock.advance(500);
      texts.add(await world.store.maps.get(JOB_MAP, id));
    }
    expect(texts.size).toBe(4);
  });

  it('is taken up by another process when its own is gone and the lease over, at the last checkpoint', async () => {
    const world = createWorld(count);
    const a = world.process('a');
    const { id } = await a.start('count', { to: 4 }, OWNER, NONE_NEEDED);
    await world.clock.advance(2500);
    const text = (await world.store.maps.get(JOB_MAP, id))!;
    await a.close();
    // As it was in the middle of the chunk.
    await world.store.maps.swap(JOB_MAP, id, await world.store.maps.get(JOB_MAP, id), text);
    const b = world.process('b');
    b.open();
    await world.clock.advance(15_000);
    expect(world.done).toEqual(['1 in a', '2 in a']);
    await world.clock.advance(10_000);
    expect(await stored(world, id)).toMatchObject({ state: 'completed', run: 2 });
    expect(world.done).toEqual(['1 in a', '2 in a', '3 in b', '4 in b']);
  });

  it('fails at once, with what is wrong, where its documents are of another form', async () => {
    const world = createWorld(count);
    const schemas = () =>
      Promise.resolve({
        input: { type: 'object', properties: { to: { type: 'integer' } }, required: ['to'] },
        checkpoint: { type: 'object', properties: { at: { type: 'integer' } }, required: ['at'] },
      });
    const kinds: JobKind[] = [
      { type: 'count', retention: DAY, schemas, chunk: (context) => count(context, world, 'a') },
    ];
    const engine = world.process('a', { kinds });
    const good = await engine.start('count', { to: 1 }, OWNER, NONE_NEEDED);
    await world.clock.advance(2000);
    expect(await stored(world, good.id)).toMatchObject({ state: 'completed' });
    const bad = await engine.start('count', { to: 's3cret' }, OWNER, NONE_NEEDED);
    await world.clock.advance(2000);
    const { state, failure } = await stored(world, bad.id);
    expect(state).toBe('failed');
    expect(failure).toMatch(/^The job cannot be read: input\/to: is not right; expected integer; another version/);
    expect(world.done).toEqual(['1 in a']);
  });

  it('is taken up at once where its process is known to be dead', async () => {
    const world = createWorld(count);
    const a = world.process('a');
    const { id } = await a.start('count', { to: 2 }, OWNER, NONE_NEEDED);
    await settled();
    const text = await world.store.maps.get(JOB_MAP, id);
    await a.close();
    // As it was in the middle of the chunk.
    await world.store.maps.swap(JOB_MAP, id, await world.store.maps.get(JOB_MAP, id), text!);
    const b = world.process('b', { isGone: (holder) => holder === 'a' });
    await b.look();
    await world.clock.advance(2000);
    expect(world.done).toEqual(['1 in b', '2 in b']);
    expect(await stored(world, id)).toMatchObject({ state: 'completed', run: 2 });
  });

  it('goes on after a clean stop without waiting for the lease, and without a failure counted', async () => {
    const world = createWorld(count);
    const a = world.process('a');
    const { id } = await a.start('count', { to: 3 }, OWNER, NONE_NEEDED);
    await world.clock.advance(1500);
    await a.close();
    const left = await stored(world, id);
    expect(left).toMatchObject({ state: 'in-progress', checkpoint: { at: 1 } });
    expect(left.lease).toBeUndefined();
    const b = world.process('b');
    await b.look();
    await world.clock.advance(2000);
    expect(await stored(world, id)).toMatchObject({ state: 'completed', failures: 0 });
    expect(world.done).toEqual(['1 in a', '2 in b', '3 in b']);
  });

  it('stops in a process that lost it', async () => {
    const world = createWorld(count);
    const a = world.process('a');
    const { id } = await a.start('count', { to: 3 }, OWNER, NONE_NEEDED);
    await world.clock.advance(1500);
    const text = (await world.store.maps.get(JOB_MAP, id))!;
    const lease = { holder: 'b', until: world.clock.now() + 20_000 };
    await world.store.maps.swap(JOB_MAP, id, text, JSON.stringify({ ...(JSON.parse(text) as Job), run: 2, lease }));
    await world.clock.advance(5000);
    await a.idle();
    expect(await stored(world, id)).toMatchObject({ run: 2, lease: { holder: 'b' }, checkpoint: { at: 1 } });
    expect(world.events).toContain(`left ${id} in a`);
  });

  it('renews its lease while a chunk takes long, and shows what the chunk reports', async () => {
    const world = createWorld(async ({ sleep, report }) => {
      report({ done: 7, unit: 'numbers' });
      await sleep(60_000);
      return { result: {} };
    });
    const a = world.process('a');
    const { id } = await a.start('count', {}, OWNER, NONE_NEEDED);
    await settled();
    world.process('b').open();
    await world.clock.advance(50_000);
    expect(await stored(world, id)).toMatchObject({ state: 'in-progress', run: 1, progress: { done: 7 } });
    await world.clock.advance(10_000);
    expect(await stored(world, id)).toMatchObject({ state: 'completed', run: 1 });
  });
});

describe('a chunk that fails', () => {
  it('is tried again with growing pauses, and its success is forgiven everything', async () => {
    const at: number[] = [];
    const world = createWorld(({ now }) => {
      at.push(now());
      return at.length < 4 ? Promise.reject(new Error('no')) : Promise.resolve({ result: {} });
    });
    const start = world.clock.now();
    const { id } = await world.process('a').start('count', {}, OWNER, NONE_NEEDED);
    await world.clock.advance(10_000);
    expect(at.map((each) => each - start)).toEqual([0, 1000, 3000, 7000]);
    expect(await stored(world, id)).toMatchObject({ state: 'completed', failures: 0 });
    expect(world.errors).toHaveLength(3);
  });

  it('fails the job in the end, with a reason that gives nothing of the defect away', async () => {
    const world = createWorld(() => Promise.reject(new Error('secret')));
    const { id } = await world.process('a').start('count', {}, OWNER, NONE_NEEDED);
    await world.clock.advance(120_000);
    const job = await stored(world, id);
    expect(job).toMatchObject({ state: 'failed', failures: 6 });
    expect(job.failure).toBe('The server failed unexpectedly; its log says why; the same step failed 6 times');
    expect(world.discarded).toEqual([id]);
  });

  it('fails the job at once where no repetition can help', async () => {
    const world = createWorld(() => Promise.reject(new FhirError('parameter-invalid', 'The value is wrong')));
    const { id } = await world.process('a').start('count', {}, OWNER, NONE_NEEDED);
    await settled();
    expect(await stored(world, id)).toMatchObject({ state: 'failed', failure: 'The value is wrong' });
  });

  it('fails the job where each process that tries it dies', async () => {
    const world = createWorld(count);
    const a = world.process('a');
    const { id } = await a.start('count', { to: 3 }, OWNER, NONE_NEEDED);
    await settled();
    await a.close();
    const b = world.process('b', { isGone: () => true });
    const text = (await world.store.maps.get(JOB_MAP, id))!;
    const lease = { holder: 'dead', until: world.clock.now() };
    const dying: Job = { ...(JSON.parse(text) as Job), failures: 5, lease };
    await world.store.maps.swap(JOB_MAP, id, text, JSON.stringify(dying));
    await b.look();
    expect(await stored(world, id)).toMatchObject({
      state: 'failed',
      failure: 'The processes that worked on it ended 6 times at the same step',
    });
  });
});

it.each(['completed', 'failed', 'cancelled'])('keeps no secret of a job that is %s', async (end) => {
  const world = createWorld(async ({ job, sleep }) => {
    expect(job.input).toEqual({ to: 1, headers: { key: 'secret' } });
    await sleep(1000);
    if (end === 'failed') throw new FhirError('parameter-invalid', 'no');
    return { result: {} };
  });
  const kind: JobKind = { type: 'sealed', secret: 'headers', retention: DAY, chunk: (context) => world.chunk(context) };
  const a = world.process('a', { kinds: [kind] });
  const { id } = await a.start('sealed', { to: 1, headers: { key: 'secret' } }, OWNER, NONE_NEEDED);
  await settled();
  if (end === 'cancelled') await a.cancel(id);
  await world.clock.advance(2000);
  expect(await stored(world, id)).toMatchObject({ state: end, input: { to: 1 } });
  expect(JSON.stringify(await stored(world, id))).not.toContain('secret');
});

describe('cancelling', () => {
  it('ends a job of this process and removes what it made', async () => {
    const world = createWorld(count);
    const a = world.process('a');
    const { id } = await a.start('count', { to: 9 }, OWNER, NONE_NEEDED);
    await world.clock.advance(2500);
    expect(await a.cancel(id)).toBe(true);
    expect(world.discarded).toEqual([id]);
    expect(await stored(world, id)).toMatchObject({ state: 'cancelled', isDiscarded: true });
    expect(await a.cancel(id)).toBe(false);
    await world.clock.advance(10_000);
    expect(world.done).toHaveLength(2);
  });

  it('reaches a job of another process with its next sign of life; what it makes until then is removed too', async () => {
    const world = createWorld(async ({ sleep }) => {
      await sleep(1_000_000);
      return {};
    });
    const a = world.process('a');
    const b = world.process('b');
    const { id } = await a.start('count', {}, OWNER, NONE_NEEDED);
    await settled();
    expect(await b.cancel(id)).toBe(true);
    expect(world.discarded).toEqual([id]);
    await world.clock.advance(5000);
    expect(world.discarded).toEqual([id, id]);
    expect(await stored(world, id)).toMatchObject({ state: 'cancelled', isDiscarded: true });
    expect(world.events).toContain(`cancelled ${id} in a`);
  });

  it('of a job that waits needs no process', async () => {
    const world = createWorld(count);
    const a = world.process('a', { atOnce: 0 });
    const { id } = await a.start('count', { to: 1 }, OWNER, NONE_NEEDED);
    expect(await a.cancel(id)).toBe(true);
    expect(await stored(world, id)).toMatchObject({ state: 'cancelled', isDiscarded: true });
    expect(await a.cancel('unknown')).toBe(false);
  });
});

describe('the engine', () => {
  it('works on so many jobs at a time, the oldest first', async () => {
    const world = createWorld(count);
    const a = world.process('a', { atOnce: 2 });
    for (let i = 0; i < 3; i++) {
      await a.start('count', { to: 2 }, OWNER, NONE_NEEDED);
      await world.clock.advance(10);
    }
    expect((await a.list()).map(({ state }) => state)).toEqual(['in-progress', 'in-progress', 'queued']);
    await world.clock.advance(2000);
    expect((await a.list()).map(({ state }) => state)).toEqual(['completed', 'completed', 'in-progress']);
    await world.clock.advance(2000);
    expect((await a.list()).map(({ state }) => state)).toEqual(['completed', 'completed', 'completed']);
  });

  it('takes up alone, one after the other, those whose processes ended twice, until a step of each is done', async () => {
    const world = createWorld(count);
    const keeper = world.process('keeper', { atOnce: 0 });
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.push((await keeper.start('count', { to: 3 }, OWNER, NONE_NEEDED)).id);
    for (const id of ids.slice(0, 2)) {
      const text = (await world.store.maps.get(JOB_MAP, id))!;
      const died = { ...(JSON.parse(text) as Job), state: 'in-progress', failures: 1, lease: { holder: 'dead', until: world.clock.now() - 1 } }; // prettier-ignore
      await world.store.maps.swap(JOB_MAP, id, text, JSON.stringify(died));
    }
    const engine = world.process('a');
    await engine.look();
    await settled();
    expect(world.events).toEqual([`resumed ${ids[0]} in a`].map((each) => each.replace('resumed', 'started')));
    // Its first step is done: others come beside it, but for the other suspect.
    await world.clock.advance(1000);
    await engine.look();
    await settled();
    expect(world.events.slice(1)).toEqual([`started ${ids[2]} in a`]);
    await world.clock.advance(4000);
    await engine.look();
    await world.clock.advance(4000);
    for (const id of ids) expect(await stored(world, id)).toMatchObject({ state: 'completed', failures: 0 });
    expect(world.events.indexOf(`started ${ids[1]} in a`)).toBeGreaterThan(
      world.events.indexOf(`completed ${ids[2]} in a`),
    );
  });

  it('gives kinds with places of their own as many as all others: neither keeps the other waiting', async () => {
    const world = createWorld(count);
    const kindOf = (type: string): JobKind => ({
      type,
      retention: DAY,
      chunk: (context) => count(context, world, type),
    });
    const kinds = [kindOf('export'), kindOf('import'), { ...kindOf('request'), hasOwnPlaces: true as const }];
    const a = world.process('a', { atOnce: 1, kinds });
    for (const type of ['request', 'request', 'export', 'import']) await a.start(type, { to: 2 }, OWNER, NONE_NEEDED);
    await world.clock.advance(10);
    const states = async (): Promise<string[]> => (await a.list()).map(({ type, state }) => `${type} ${state}`);
    expect(await states()).toEqual(['request in-progress', 'request queued', 'export in-progress', 'import queued']);
    await world.clock.advance(2000);
    const next = ['request completed', 'request in-progress', 'export completed', 'import in-progress'];
    expect(await states()).toEqual(next);
  });

  it('leaves jobs that write to other processes where it may not', async () => {
    const world = createWorld(count);
    const writing: JobKind = {
      type: 'import',
      writes: true,
      retention: DAY,
      chunk: (context) => count(context, world, 'a'),
    };
    const a = world.process('a', { kinds: [writing], isReadOnly: true });
    const { id } = await a.start('import', { to: 1 }, OWNER, NONE_NEEDED);
    await a.look();
    await world.clock.advance(5000);
    expect((await stored(world, id)).state).toBe('queued');
    world.process('b', { kinds: [writing] }).open();
    await world.clock.advance(5000);
    expect((await stored(world, id)).state).toBe('completed');
  });

  it('removes jobs and what they made when their retention time is over', async () => {
    const world = createWorld(count);
    const a = world.process('a');
    a.open();
    const { id } = await a.start('count', { to: 1 }, OWNER, NONE_NEEDED);
    await world.clock.advance(DAY);
    expect(await a.read(id)).toMatchObject({ state: 'completed' });
    await world.clock.advance(10_000);
    expect(await a.read(id)).toBeUndefined();
    expect(await world.store.maps.get(JOB_MAP, id)).toBeUndefined();
    expect(world.discarded).toEqual([id]);
  });

  it('removes a job that has ended when it is asked to, and leaves one that runs', async () => {
    const world = createWorld(count);
    const a = world.process('a');
    const { id } = await a.start('count', { to: 1 }, OWNER, NONE_NEEDED);
    await a.remove(id);
    expect(await a.read(id)).toBeDefined();
    await world.clock.advance(1000);
    await a.remove(id);
    expect(await a.read(id)).toBeUndefined();
  });

  it('leaves jobs alone whose kind it does not know', async () => {
    const world = createWorld(count);
    const a = world.process('a', { kinds: [] });
    await expect(a.start('count', {}, OWNER, NONE_NEEDED)).rejects.toThrow('no kind of job count');
    const b = world.process('b', { atOnce: 0 });
    const { id } = await b.start('count', {}, OWNER, NONE_NEEDED);
    await a.look();
    expect(await stored(world, id)).toMatchObject({ state: 'queued' });
  });

  it('goes on after the store was away for a moment', async () => {
    const world = createWorld(count);
    const a = world.process('a');
    a.open();
    const { id } = await a.start('count', { to: 3 }, OWNER, NONE_NEEDED);
    await world.clock.advance(500);
    const { swap } = world.store.maps;
    Object.assign(world.store.maps, { swap: () => Promise.reject(new FhirError('store-unavailable')) });
    await world.clock.advance(5000);
    Object.assign(world.store.maps, { swap });
    await world.clock.advance(60_000);
    expect(await stored(world, id)).toMatchObject({ state: 'completed' });
  });
});
