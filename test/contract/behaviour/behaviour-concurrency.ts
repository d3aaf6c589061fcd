import { expect, it } from 'vitest';

import { VersionConflict } from '../../../runtime/store/store.js';
import { put, useStore, type Subject } from '../subject.js';

/** Writes at the same time. */
export function concurrencyBehaviour(on: Subject): void {
  const subject = useStore(on);

  it('one conflict does not fail the writes beside it, and each write stays whole', async () => {
    const { store } = subject;
    await store.write([put('taken', 0)]);
    const results = await Promise.allSettled(
      Array.from({ length: 60 }, (_, n) =>
        store.write(
          n % 3 === 0 ? [put(`a${n}`, 0), put('taken', 0), put(`b${n}`, 0)] : [put(`a${n}`, 0), put(`b${n}`, 0)],
        ),
      ),
    );
    for (const [n, result] of results.entries()) {
      const isConflict = n % 3 === 0;
      expect(result.status).toBe(isConflict ? 'rejected' : 'fulfilled');
      if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(VersionConflict);
      for (const id of [`a${n}`, `b${n}`])
        expect((await store.read('Patient', id))?.version).toBe(isConflict ? undefined : 1);
    }
    expect((await store.history({ count: 1 })).total).toBe(81);
  });

  it('of many who expect the same version exactly one wins', async () => {
    const { store } = subject;
    for (let version = 0; version < 5; version++) {
      const all = await Promise.allSettled(
        Array.from({ length: 20 }, (_, n) => store.write([put('a', version, `${n}`)])),
      );
      const winner = all.findIndex(({ status }) => status === 'fulfilled');
      expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect((await store.read('Patient', 'a'))?.json).toContain(`"${winner}"`);
    }
  });

  it('what was answered can be read at once, by whichever way', async () => {
    const { store } = subject;
    await Promise.all(
      Array.from({ length: 30 }, async (_, n) => {
        const [written] = await store.write([put(`r${n}`, 0)]);
        expect(await store.read('Patient', `r${n}`)).toEqual(written);
        expect((await store.history({ type: 'Patient', id: `r${n}`, count: 1 })).versions).toEqual([written]);
      }),
    );
    expect(await store.check()).toEqual({ ok: true });
  });
}
