import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { OPERATOR } from '../../../runtime/auth/scopes/principal.js';
import type { Call } from '../../../runtime/core/call.js';
import { writeCurrent } from '../../../runtime/core/write/write-current.js';
import { createServices } from '../../../runtime/http/create-services.js';
import { runPlan } from '../../../runtime/interactions/write/run-plan.js';
import { planUpdate } from '../../../runtime/interactions/write/update.js';
import type { Store } from '../../../runtime/store/store.js';
import { toyExtract } from '../../toy/extract.js';
import { createToyStore } from '../../toy/store.js';
import { toyTables } from '../../toy/tables.js';

describe('a rival who writes between reading and writing', () => {
  let store: Store;
  beforeEach(() => {
    store = createToyStore();
  });
  afterEach(() => store.close());

  /** An update through a store on which a rival gets in first, `times` times. */
  const updateAgainst = (times: number, conditions: Call['conditions'] = {}) => {
    let rivals = 0;
    const contested: Store = {
      ...store,
      async write(changes, guards) {
        if (rivals < times) {
          const expected = (await store.read('Patient', 'p'))?.version ?? 0;
          const body = { head: '{"resourceType":"Patient","id":"p","meta":{', tail: `},"rival":${++rivals}}` };
          const content = { resourceType: 'Patient', id: 'p', rival: rivals };
          await store.write([{ type: 'Patient', id: 'p', expected, body, content, entries: [] }]);
        }
        return store.write(changes, guards);
      },
    };
    const { services } = createServices({ tables: toyTables, store: contested, extract: toyExtract });
    const body = { resourceType: 'Patient', id: 'p', active: true };
    const call: Call = {
      interaction: 'update',
      principal: OPERATOR,
      type: 'Patient',
      id: 'p',
      params: new URLSearchParams(),
      body,
      base: 'http://localhost/fhir',
      conditions,
      prefer: {},
    };
    return runPlan(planUpdate)(call, services);
  };

  it('loses nothing: both writes get a version, and the answer is that of the last look', async () => {
    expect(await updateAgainst(1)).toMatchObject({ status: 200, versionId: '2' });
    expect((await store.readVersion('Patient', 'p', 1))?.json).toContain('rival');
    expect((await store.readVersion('Patient', 'p', 2))?.json).toContain('active');
  });

  it('is outlasted', async () => {
    expect(await updateAgainst(20)).toMatchObject({ status: 200, versionId: '21' });
  });

  it('makes a precondition fail that held at first', async () => {
    await updateAgainst(0);
    const changed = updateAgainst(1, { ifNoneMatch: '*' });
    await expect(changed).rejects.toMatchObject({ code: 'precondition-failed' });
    const created = (await store.write([{ type: 'Patient', id: 'p', expected: 1 }]))[0]?.version;
    expect(created).toBe(2);
    await expect(updateAgainst(1, { ifNoneMatch: '*' })).rejects.toMatchObject({ code: 'precondition-failed' });
    expect((await store.read('Patient', 'p'))?.json).toContain('rival');
  });

  it('who never stops leaves a 409', async () => {
    await expect(updateAgainst(Infinity)).rejects.toMatchObject({ code: 'version-conflict', status: 409 });
  });
});

describe('a store that does not answer', () => {
  it('kept the client waiting for the turn, the read and the write, one after the other', async () => {
    vi.useFakeTimers();
    const store = createToyStore();
    try {
      vi.spyOn(store, 'read').mockReturnValue(new Promise(() => {}));
      const written = writeCurrent(store, 'Patient', 'p', () => undefined);
      const failed = expect(written).rejects.toMatchObject({
        code: 'store-unavailable',
        status: 503,
        headers: { 'Retry-After': '2' },
      });
      await vi.advanceTimersByTimeAsync(13_100);
      await failed;
    } finally {
      vi.useRealTimers();
      await store.close();
    }
  });
});
