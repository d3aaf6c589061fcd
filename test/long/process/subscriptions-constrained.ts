import { afterAll, beforeAll, expect, it, vi } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { createScopes } from '../../../runtime/auth/scopes/create-scopes.js';
import { Principal, SERVER } from '../../../runtime/auth/scopes/principal.js';
import { composePut } from '../../../runtime/core/write/compose-change.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { writeJson } from '../../../runtime/format/write-json.js';
import { RESULT_PARAMETERS } from '../../../runtime/search/control-parameters.js';
import { utc } from '../../../runtime/indexing/values/zone.js';
import { expecting, type Store } from '../../../runtime/store/store.js';
import { missingRights } from '../../../runtime/subscriptions/check/needed-rights.js';
import { contentDigest, NEW } from '../../../runtime/subscriptions/engine/digest.js';
import { createSubscriptionEngine, type SubscriptionEngine } from '../../../runtime/subscriptions/engine/engine.js';
import { SubscriptionRows } from '../../../runtime/subscriptions/engine/rows.js';
import { asksOthers } from '../../../runtime/subscriptions/match/criteria-test.js';
import { compileTopic } from '../../../runtime/subscriptions/topic/compile-topic.js';
import { createRandom, seedOfRun } from '../../contract/random.js';
import { searchMaker } from '../../http/auth/leaks/leak-searches.js';
import { makeWorld, POLICIES } from '../../http/auth/leaks/leak-twins.js';
import { valuesOf } from '../../http/auth/leaks/leak-values.js';
import { serveWith } from '../../http/auth/support.js';
import { idsOf } from '../../http/search-server.js';
import { subscription, topic, triggered } from '../../http/subscriptions/samples.js';
import { statusOf } from '../../service/subscriptions/receiver.js';
import { OWN } from '../../toy/own.js';
import { owned, servicesOn } from '../../unit/subscriptions/matching.js';

/** Policies without parameters of a store, and with `r` and `s` together. */
const CONSTRAINED = POLICIES.filter(({ scopes, unread }) => unread === undefined && !scopes.includes('x-'));

/** Its events come after those of all versions that were written before. */
const MARKER = 'marker';

const LATE = { timeout: 120_000, interval: 50 };

/** A Subscription to a random topic with a random constrained token. */
interface Subscriber {
  readonly id: string;
  readonly scopes: string;
  readonly type: string;
  readonly query: string;
}

/** One event as it was received. */
interface Told {
  readonly number: number;
  readonly name: string;
  readonly resource: Resource | undefined;
}

/**
 * Subscriptions to random topics with random constrained tokens receive just the versions that a search with their criteria and their token
 * shows when they are current, with the contents that a read shows. Each version of a world is written, round by round.
 *
 * @param count topics of each policy
 */
export function receivesAsTokensSearch(store: Store, count: number): void {
  const server = serveWith(store);
  const seed = seedOfRun();
  const { access } = createScopes({ tables, zone: utc, own: OWN });
  const drafts = makeWorld(seed, undefined);
  const subscribers: Subscriber[] = [];
  const received = new Map<string, Told[]>();
  const services = servicesOn(store);
  const rows = new SubscriptionRows(store.maps);
  let engine: SubscriptionEngine;

  async function write(type: string, id: string, content: Resource | undefined): Promise<void> {
    const current = await store.read(type, id);
    if (content !== undefined) {
      const change = await composePut({ ...content, id }, id, current, services);
      if (change !== undefined) await store.write([change]);
    } else if (current?.json !== undefined) await store.write([{ type, id, ...expecting(current) }]);
  }

  async function subscribe(id: string, clientId: string, scope: string, trigger: Resource): Promise<void> {
    const url = `http://topic.example/${id}`;
    await write('SubscriptionTopic', id, { ...trigger, url });
    const content = subscription({ id, topic: url, content: 'full-resource', maxCount: 100 });
    await rows.keepOwner(id, NEW, contentDigest(content), { clientId, scope, granted: 0 }, Date.now() + 1e9);
    await write('Subscription', id, content);
  }

  function take(body: string): void {
    const { entry } = JSON.parse(body) as { entry: readonly { fullUrl: string; resource?: Resource }[] };
    const { subscription: of, notificationEvent = [] } = statusOf(body);
    const id = of.reference.split('/').at(-1)!;
    const all = received.get(id) ?? [];
    received.set(id, all);
    for (const { eventNumber, focus } of notificationEvent) {
      const name = focus?.reference.split('/').slice(-2).join('/') ?? 'withheld';
      all.push({
        ...{ number: Number(eventNumber), name },
        resource: entry.find(({ fullUrl }) => fullUrl === focus?.reference)?.resource,
      });
    }
  }

  beforeAll(async () => {
    engine = createSubscriptionEngine({
      services: () => services,
      accessOf({ clientId, scope = '' }) {
        const who = clientId === MARKER ? SERVER : Principal.ofClient({ clientId, scope, access: access(scope) });
        return Promise.resolve({ kept: who, now: who });
      },
      base: () => 'http://own.example/fhir',
      send({ body }) {
        take(body);
        return Promise.resolve({ status: 200, retryAfter: undefined });
      },
      print: (resource) => writeJson(resource),
      ...{ holder: 'test', isGone: () => false, now: Date.now },
      settings: { retryFor: 1e9, keep: 1e9, keepLog: 1e9, atOnce: 10 },
      onWarning: () => {},
      onError: (error) => {
        throw error;
      },
      counters: { matched: () => {}, delivered: () => {} },
      audited: () => {},
    });
    await engine.prepare();
    const random = createRandom(seed);
    for (const { name, scopes, all, open = [] } of CONSTRAINED) {
      const types = [...all, ...open].filter((type) => type !== 'Binary' && type !== 'Subscription');
      const search = searchMaker(random, valuesOf(drafts), types);
      for (let n = 0; n < count;) {
        const type = random.pick(types);
        const pairs = search(type, true).filter(([param]) => !Object.hasOwn(RESULT_PARAMETERS, param) && !/^_(?:rev)?include/.test(param)); // prettier-ignore
        if (pairs.length === 0 || pairs.some(([, value]) => value.includes('@'))) continue;
        const query = pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
        const supportedInteraction = ['create', 'update'];
        const body = triggered({ resource: type, supportedInteraction, queryCriteria: { current: query } });
        const { plan } = compileTopic(body, services);
        // What other resources decide may change within a round.
        if (plan === undefined || asksOthers(plan.triggers[0]!.query!.current!)) continue;
        const principal = Principal.ofClient({ clientId: name, scope: scopes, access: access(scopes) });
        if (missingRights(owned(plan, services, {}, principal).plan, principal.access) !== undefined) continue;
        const id = `s${subscribers.length}`;
        await subscribe(id, name, scopes, body);
        subscribers.push({ id, scopes, type, query });
        n++;
      }
    }
    await subscribe(MARKER, MARKER, '', topic({ resourceTrigger: [{ resource: 'Linkage' }] }));
    engine.open();
  }, 240_000);
  afterAll(async () => {
    await engine.close();
  });

  it(
    `each of ${count} subscribers of each token received just what a search shows (seed ${seed})`,
    { timeout: 900_000 },
    async () => {
      const rounds = Math.max(...drafts.map(({ versions }) => versions.length));
      let events = 0;
      for (let round = 0; round < rounds; round++) {
        const before = new Map([...received].map(([id, all]) => [id, all.length]));
        const written = drafts.filter(({ versions }) => versions.length > round);
        for (const { type, id, versions } of written) await write(type, id, versions[round]!.content as Resource | undefined); // prettier-ignore
        await write('Linkage', 'l', { resourceType: 'Linkage', active: round % 2 === 0, item: [] });
        await vi.waitFor(() => expect(received.get(MARKER)?.length).toBe(round + 1), LATE);
        for (const { id, scopes, type, query } of subscribers) {
          const what = `round ${round}, ${type}?${decodeURIComponent(query)} with ${scopes}`;
          const { number } = (await rows.row(id))!;
          await vi.waitFor(() => expect(received.get(id)?.length ?? 0, what).toBe(number), LATE);
          const news = (received.get(id) ?? []).slice(before.get(id) ?? 0);
          const answer = await server.as(scopes).send('GET', `/${type}?${query}&_count=1000`);
          expect(answer.status, `${what}: ${answer.text.slice(0, 300)}`).toBe(200);
          const ids = new Set(idsOf(answer));
          const shown = written
            .filter((each) => each.type === type && ids.has(each.id))
            .map((each) => `${type}/${each.id}`);
          expect(news.map(({ name }) => name).sort(), what).toEqual(shown.sort());
          for (const { name, resource } of news) {
            expect(resource, what).toEqual((await server.as(scopes).send('GET', `/${name}`)).json());
            events++;
          }
        }
      }
      // Else hardly anything was compared; which criteria match depends on the table of parameters.
      expect(events).toBeGreaterThan(subscribers.length / 3);
    },
  );
}
