import { describe, expect, it } from 'vitest';

import { openAdmission } from '../../../runtime/fhir/admission.js';

const nobodyLeaves = new AbortController().signal;
const errors = { refused: () => new Error('refused'), left: () => new Error('left') };

describe('admission of large bodies', () => {
  it('lets so many bytes in at a time, the others in their order', async () => {
    const admission = openAdmission({ inside: 10, waiting: 100 }, errors);
    const inside: string[] = [];
    const enter = async (name: string, size: number): Promise<() => void> => {
      const release = await admission.enter(size, { signal: nobodyLeaves });
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
    const admission = openAdmission({ inside: 10, waiting: 100 }, errors);
    const release = await admission.enter(50, { signal: nobodyLeaves });
    let isIn = false;
    const next = admission.enter(1, { signal: nobodyLeaves }).then(() => (isIn = true));
    await Promise.resolve();
    expect(isIn).toBe(false);
    release();
    await next;
  });

  it('refuses where too many wait, and forgets who leaves', async () => {
    const admission = openAdmission({ inside: 10, waiting: 20 }, errors);
    const release = await admission.enter(10, { signal: nobodyLeaves });
    const leaver = new AbortController();
    const gone = admission.enter(15, { signal: leaver.signal });
    await expect(admission.enter(6, { signal: nobodyLeaves })).rejects.toThrow('refused');
    leaver.abort();
    await expect(gone).rejects.toThrow('left');
    const next = admission.enter(20, { signal: nobodyLeaves });
    release();
    await next;
  });
});
