import { describe, expect, it } from 'vitest';

import {
  openReaderQueues,
  type Job,
  type ReaderLane,
  type Reader,
} from '../../../../runtime/store/sqlite/threads/reader-queues.js';

/** Two readers, the first kept for short queries. */
function openQueues() {
  const reader = (): Reader => ({ thread: {}, stop: new Int32Array(1), isBusy: false, isStarted: true }) as Reader; // prettier-ignore
  const readers = [reader(), reader()];
  const begun: string[] = [];
  let waits = 0;
  const queues = openReaderQueues(readers, readers[0], () => void waits++);
  function add(
    name: string,
    options: { place?: ReaderLane; mayBeLong?: boolean; isLikeLong?: () => boolean } = {},
  ): Job {
    const { place = 'first', mayBeLong = true, isLikeLong = () => false } = options;
    const job: Job = {
      place,
      mayBeLong,
      isLikeLong,
      start(on) {
        on.isBusy = true;
        begun.push(`${name} on ${on === readers[0] ? 'short' : 'long'}`);
      },
    };
    queues.add(job);
    return job;
  }
  return { queues, readers, begun, add, waits: () => waits };
}

describe('readers', () => {
  it('leave the one for short queries free as long as there is another', () => {
    const { add, begun } = openQueues();
    add('search');
    add('look', { mayBeLong: false });
    expect(begun).toEqual(['search on long', 'look on short']);
  });

  it('take what is known to be long on none but the others, and what is like that after what is not', () => {
    const { add, begun, queues, readers, waits } = openQueues();
    for (const name of ['a', 'b']) add(name);
    add('long', { place: 'long' });
    add('like', { isLikeLong: () => true });
    const before = waits();
    add('fresh');
    expect(waits()).toBeGreaterThan(before);
    queues.release(readers[0]!);
    queues.release(readers[0]!);
    queues.release(readers[0]!);
    queues.release(readers[1]!);
    expect(begun.slice(2)).toEqual(['fresh on short', 'like on short', 'long on long']);
  });

  it('see that others like it have been long by the time it begins', () => {
    const { add, begun, queues, readers } = openQueues();
    for (const name of ['a', 'b']) add(name);
    let isLikeLong = false;
    const first = add('first', { isLikeLong: () => isLikeLong });
    add('second');
    isLikeLong = true;
    queues.release(readers[0]!);
    expect(begun.at(-1)).toBe('second on short');
    queues.remove(first);
    queues.release(readers[0]!);
    expect(begun).toHaveLength(3);
  });
});
