import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { PooledThread } from './pooled-thread.js';

/** Answers with what it was given, how often it was asked, and its thread. */
const ENTRY = `
  const { parentPort, threadId, workerData } = require('node:worker_threads');
  let asked = 0;
  parentPort.on('message', (message) => {
    if (message === 'close') parentPort.close();
    else if (message === 'throw') throw new Error('thrown in the thread');
    else parentPort.postMessage({ given: workerData.given, asked: ++asked, threadId });
  });`;

interface Answer {
  readonly given: string;
  readonly asked: number;
  readonly threadId: number;
}

describe('a thread of a store in tests', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-pooled-'));
  const entry = pathToFileURL(join(folder, 'entry.js'));
  beforeAll(() => writeFileSync(entry, ENTRY));
  afterAll(() => rmSync(folder, { recursive: true }));

  const start = (given: string): PooledThread => new PooledThread(entry, { workerData: { given } });
  async function ask(thread: PooledThread): Promise<Answer> {
    thread.postMessage('ask');
    return ((await once(thread, 'message')) as [Answer])[0];
  }

  it('is one that an earlier one has left, and begins from the beginning', async () => {
    const first = start('one');
    const { threadId } = await ask(first);
    expect(await ask(first)).toEqual({ given: 'one', asked: 2, threadId });
    const beside = start('beside');
    expect((await ask(beside)).threadId).not.toBe(threadId);
    first.postMessage('close');
    expect(await once(first, 'exit')).toEqual([0]);
    const next = start('two');
    expect(await ask(next)).toEqual({ given: 'two', asked: 1, threadId });
    await Promise.all([next.terminate(), beside.terminate()]);
  });

  it('emits exit if it throws or is terminated, and is not used again', async () => {
    const thrown = start('one');
    const { threadId } = await ask(thrown);
    const error = once(thrown, 'error');
    const ended = new Promise((resolve) => thrown.once('exit', resolve));
    thrown.postMessage('throw');
    expect(await error).toEqual([expect.objectContaining({ message: 'thrown in the thread' })]);
    expect(await ended).toBe(1);
    const terminated = start('two');
    const other = (await ask(terminated)).threadId;
    expect(other).not.toBe(threadId);
    const gone = once(terminated, 'exit');
    await terminated.terminate();
    await gone;
    const last = start('three');
    expect([threadId, other]).not.toContain((await ask(last)).threadId);
    await last.terminate();
  });
});
