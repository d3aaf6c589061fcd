import { describe, expect, it } from 'vitest';

import { openBodyQueue } from '../../../runtime/body-workers/body-queue.js';

const nobodyLeaves = new AbortController().signal;

describe('admission of large bodies', () => {
  it('lets so many bytes in at a time, the others in their order', async () => {
    const admission = openBodyQueue({ inside: 10, waiting: 100 });
    const inside: string[] = [];
    const enter = async (name: string, size: number): Promise<() => void> => {
      const release = await admission.enter(size, nobodyLeaves);
      inside.push(name);
      return release;
    };
    const [a, b] = await Promise.all([enter('a', 6), enter('b', 4)]);
    const [c, d, e] = [enter('c', 8), enter('d', 1), enter('e', 3)];
    await Promise.resolve();
    expect(inside).toEqual(['a', 'b']);
    b();
    b();
    await Promise.resolve();
    expect(inside, 'd would fit, but c came before it').toEqual(['a', 'b']);
    a();
    (await c)();
    await Promise.all([d, e]);
    expect(inside).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('lets one in alone that is larger than all that may be in', async () => {
    const admission = openBodyQueue({ inside: 10, waiting: 100 });
    const release = await admission.enter(50, nobodyLeaves);
    let isIn = false;
    const next = admission.enter(1, nobodyLeaves).then(() => (isIn = true));
    await Promise.resolve();
    expect(isIn).toBe(false);
    release();
    await next;
  });

  it('refuses where too many wait, and forgets who leaves', async () => {
    const admission = openBodyQueue({ inside: 10, waiting: 20 });
    const release = await admission.enter(10, nobodyLeaves);
    const leaver = new AbortController();
    const gone = admission.enter(15, leaver.signal);
    await expect(admission.enter(6, nobodyLeaves)).rejects.toMatchObject({ code: 'server-busy', status: 503 });
    leaver.abort();
    await expect(gone).rejects.toMatchObject({ code: 'body-incomplete' });
    const next = admission.enter(20, nobodyLeaves);
    release();
    await next;
  });
});
