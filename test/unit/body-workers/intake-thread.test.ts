import { EventEmitter } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';

import type { Job } from '../../../runtime/body-workers/messages.js';
import { cutTree } from '../../../runtime/body-workers/pieces.js';
import { openBodyWorker } from '../../../runtime/body-workers/thread.js';

/** A thread that is told what happens to it. */
class Fake extends EventEmitter {
  asked = 0;
  postMessage(): void {
    this.asked++;
  }
  ref(): void {}
  unref(): void {}
  async terminate(): Promise<void> {}
}

it('a body that comes while an idle thread ends is read by a new one', async () => {
  const started: Fake[] = [];
  const thread = openBodyWorker(() => {
    started.push(new Fake());
    return started.at(-1) as unknown as Worker;
  });
  const read = () => thread.read({} as Job, new AbortController().signal);
  const [piece] = cutTree({ resourceType: 'Patient' }, 1000);

  const first = read();
  started[0]!.emit('message', { is: 'piece', piece });
  await Promise.resolve();
  started[0]!.emit('message', { is: 'end' });
  await first;
  await thread.end();
  const second = read();
  started[0]!.emit('exit');
  expect(started.map(({ asked }) => asked)).toEqual([2, 1]);
  started[1]!.emit('message', { is: 'piece', piece });
  await Promise.resolve();
  started[1]!.emit('message', { is: 'end' });
  await expect(second).resolves.toEqual({ resourceType: 'Patient' });

  const third = read();
  started[1]!.emit('exit');
  await expect(third).rejects.toMatchObject({ code: 'body-unread', status: 503 });
});
