import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { SERVER } from '../../../runtime/auth/scopes/principal.js';
import { composePut } from '../../../runtime/core/write/compose-change.js';
import type { Services } from '../../../runtime/core/services.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { writeJson } from '../../../runtime/format/write-json.js';
import type { Store } from '../../../runtime/store/store.js';
import { takePlace } from '../../../runtime/subscriptions/engine/client-places.js';
import { createSubscriptionEngine, type SubscriptionEngine } from '../../../runtime/subscriptions/engine/engine.js';
import { SubscriptionRows } from '../../../runtime/subscriptions/engine/rows.js';
import { matchVersion } from '../../../runtime/subscriptions/match/match-version.js';
import { indexSubscriptions } from '../../../runtime/subscriptions/match/subscription-index.js';
import { openStore } from '../../contract/open-store.js';
import { EVENTUALLY } from '../../eventually.js';
import { subscription, triggered } from '../../http/subscriptions/samples.js';
import { changeOf, owned, planOf, servicesOn } from './matching.js';

/** What the engine does beside matching and delivering. @param storeUrl of an empty store */
export function engineUpkeep(storeUrl: () => string): void {
  let store: Store;
  let services: Services;
  let rows: SubscriptionRows;
  let engine: SubscriptionEngine;
  let clock: number;

  async function write(content: Resource): Promise<void> {
    const id = String(content['id']);
    const change = await composePut(content, id, await store.read(content.resourceType, id), services);
    if (change !== undefined) await store.write([change]);
  }

  beforeEach(async () => {
    store = await openStore(storeUrl());
    services = servicesOn(store);
    rows = new SubscriptionRows(store.maps);
    clock = 0;
    engine = createSubscriptionEngine({
      services: () => services,
      accessOf: () => Promise.resolve({ kept: SERVER, now: SERVER }),
      base: () => 'http://own.example/fhir',
      send: () => Promise.resolve({ status: 200, retryAfter: undefined }),
      print: (resource) => writeJson(resource),
      ...{ holder: 'test', isGone: () => false, now: () => Date.now() + clock },
      settings: { retryFor: 1e9, keep: 1e9, keepLog: 60_000, atOnce: 10 },
      onWarning: () => {},
      onError: () => {},
      counters: { matched: () => {}, delivered: () => {} },
      audited: () => {},
    });
  });
  afterEach(async () => {
    await engine.close();
    await store.close();
  });

  it('turns off the Subscriptions of a copy, however young they are', async () => {
    await write(subscription({ id: 's', status: 'active' }));
    engine.open();
    await vi.waitFor(async () => {
      const { json } = (await store.read('Subscription', 's'))!;
      expect(JSON.parse(json!)).toMatchObject({ status: 'off' });
    }, EVENTUALLY);
  });

  it('knows how long the oldest version waits that is not matched', async () => {
    await engine.prepare();
    expect((await engine.state()).waits).toBe(0);
    await write({ resourceType: 'Patient', id: 'p' });
    clock = 40_000;
    await vi.waitFor(async () => expect((await engine.state()).waits).toBeGreaterThan(39_000), EVENTUALLY);
  });

  it('forgets all counters and events, and begins anew', async () => {
    await engine.prepare();
    const row = { born: 1, version: 1, owner: { clientId: 'c', granted: 0 }, number: 1, isLive: true };
    const event = {
      seq: 1,
      type: 'Patient',
      id: 'p',
      version: 1,
      updated: 1,
      interaction: 'create',
      number: 1,
    } as const;
    await rows.save([rows.rowStep('s', undefined, row), rows.eventStep('s', row, event)]);
    await store.maps.swap('other', 'key', undefined, 'kept');
    await rows.forgetAll();
    expect((await rows.cursor()).value).toBeUndefined();
    expect(await rows.row('s')).toBeUndefined();
    expect(await rows.events('s', row, 0, 10)).toEqual([]);
    expect(await store.maps.get('other', 'key')).toBe('kept');
  });

  describe('the places of a client', () => {
    const take = (id: string, version = 0) =>
      takePlace({ clientId: 'c', id, version }, 3, services, Date.now() + clock);

    it('are not passed by many writes at once', async () => {
      const ids = ['a', 'b', 'c', 'd', 'e'];
      const taken = await Promise.all(ids.map((id) => take(id)));
      expect(taken.filter(Boolean)).toHaveLength(3);
      // The same once more, as after a conflict.
      expect(await take(ids[taken.indexOf(true)]!)).toBe(true);
    });

    it('are free again once a Subscription is off, or was not written after all', async () => {
      for (const id of ['a', 'b', 'c']) expect(await take(id)).toBe(true);
      expect(await take('d')).toBe(false);
      await write(subscription({ id: 'a', status: 'off' }));
      expect(await take('d')).toBe(true);
      expect(await take('e')).toBe(false);
      await write(subscription({ id: 'b' }));
      clock = 60_000;
      // Of c and d nothing has come; b lives.
      expect(await Promise.all([take('f'), take('g'), take('h')]).then((all) => all.filter(Boolean))).toHaveLength(2);
    });
  });

  it('a grant is renewed by its owner alone, with the same scopes', async () => {
    const owner = { clientId: 'c', scope: 'system/Patient.rs', granted: 1 };
    await rows.save([rows.rowStep('s', undefined, { born: 1, version: 1, owner, number: 0, isLive: true })]);
    const renew = (more: object, granted: number) => rows.renewGrant('s', { ...owner, ...more, granted }, Date.now() + 60_000); // prettier-ignore
    await renew({ clientId: 'other' }, 2);
    await renew({ scope: 'system/Patient.r' }, 3);
    expect(await rows.grantOf('s', owner)).toBe(1);
    await renew({}, 4);
    expect(await rows.grantOf('s', owner)).toBe(4);
    expect(await rows.grantOf('s', { ...owner, clientId: 'next', granted: 2 })).toBe(2);
  });

  it('criteria that ask for other resources end in the time of a search, and are counted', async () => {
    const limits = { ...services.limits, queryTime: 20 };
    const find: Store['find'] = (_query, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      });
    const slow: Services = { ...services, limits, store: { ...store, find } };
    const plan = planOf(triggered({ queryCriteria: { current: 'subject:Patient.name=x' } }), slow);
    const one = owned(plan, slow, {}, SERVER);
    const observed: Resource = { resourceType: 'Observation', status: 'final', code: { text: 'x' }, subject: { reference: 'Patient/p' } }; // prettier-ignore
    const { matched, failures } = await matchVersion(changeOf(undefined, observed), indexSubscriptions([one]), slow);
    expect([matched, failures.length]).toEqual([[], 1]);
  });
}
