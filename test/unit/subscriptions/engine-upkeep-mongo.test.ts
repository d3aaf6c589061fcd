import { expect, it, vi } from 'vitest';

import { writeJson } from '../../../runtime/format/write-json.js';
import { SERVER } from '../../../runtime/auth/scopes/principal.js';
import { createSubscriptionEngine } from '../../../runtime/subscriptions/engine/engine.js';
import { openStore } from '../../contract/open-store.js';
import { put } from '../../contract/subject.js';
import { EVENTUALLY } from '../../eventually.js';
import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { engineUpkeep } from './engine-upkeep.js';
import { servicesOn } from './matching.js';

describeOnMongod('upkeep of subscriptions on MongoDB', () => {
  engineUpkeep(newDatabase);

  it('the log is trimmed where no Subscription lives', async () => {
    const store = await openStore(newDatabase());
    const from = await store.log.end();
    await store.write([put('a', 0)]);
    await vi.waitFor(async () => expect(await store.log.read(from, 10)).toHaveLength(1), EVENTUALLY);
    const engine = createSubscriptionEngine({
      services: () => servicesOn(store),
      accessOf: () => Promise.resolve({ kept: SERVER, now: SERVER }),
      base: () => 'http://own.example/fhir',
      send: () => Promise.resolve({ status: 200, retryAfter: undefined }),
      print: (resource) => writeJson(resource),
      ...{ holder: 'test', isGone: () => false, now: () => Date.now() + 120_000 },
      settings: { retryFor: 1e9, keep: 1e9, keepLog: 60_000, atOnce: 10 },
      onWarning: () => {},
      onError: () => {},
      counters: { matched: () => {}, delivered: () => {} },
      audited: () => {},
    });
    engine.open();
    await vi.waitFor(async () => expect(await store.log.read(from, 10)).toBeUndefined(), EVENTUALLY);
    await engine.close();
    await store.close();
  });
});
