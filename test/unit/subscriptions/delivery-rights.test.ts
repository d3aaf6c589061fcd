import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { OWN } from '../../toy/own.js';
import { tables } from '../../../generated/tables.js';
import { createScopes } from '../../../runtime/auth/scopes/create-scopes.js';
import { Principal } from '../../../runtime/auth/scopes/principal.js';
import { composePut } from '../../../runtime/core/write/compose-change.js';
import type { Services } from '../../../runtime/core/services.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { writeJson } from '../../../runtime/format/write-json.js';
import { utc } from '../../../runtime/indexing/values/zone.js';
import type { Store } from '../../../runtime/store/store.js';
import { contentDigest, NEW } from '../../../runtime/subscriptions/engine/digest.js';
import { createSubscriptionEngine, type SubscriptionEngine } from '../../../runtime/subscriptions/engine/engine.js';
import type { OwnerAccess } from '../../../runtime/subscriptions/engine/parts.js';
import { SubscriptionRows } from '../../../runtime/subscriptions/engine/rows.js';
import { openStore } from '../../contract/open-store.js';
import { EVENTUALLY } from '../../eventually.js';
import { subscription, triggered } from '../../http/subscriptions/samples.js';
import { statusOf, type Status } from '../../service/subscriptions/receiver.js';
import { servicesOn } from './matching.js';

const { access } = createScopes({ tables, zone: utc, own: OWN });
const clientWith = (scope: string): Principal => Principal.ofClient({ clientId: 'c', scope, access: access(scope) });

/** Rights of the owner when something is matched, and when it is sent. */
describe('the owner of a Subscription', () => {
  let store: Store;
  let services: Services;
  let engine: SubscriptionEngine;
  let rows: SubscriptionRows;
  let rights: OwnerAccess;
  let sent: Status[];
  let begun: number;
  let print: (resource: Resource) => string;
  let defects: unknown[];
  /** Resolves when the next notification may be answered. */
  let gate: Promise<void>;

  async function write(content: Resource): Promise<void> {
    const id = String(content['id']);
    const current = await store.read(content.resourceType, id);
    const change = await composePut(content, id, current, services);
    if (change !== undefined) await store.write([change]);
  }

  const observe = (id: string, code: string): Promise<void> =>
    write({ resourceType: 'Observation', id, status: 'final', code: { coding: [{ code }] } });
  const numbers = (): number[] =>
    sent.flatMap(({ notificationEvent = [] }) => notificationEvent.map(({ eventNumber }) => Number(eventNumber)));
  const counted = (number: number): Promise<void> =>
    vi.waitFor(async () => expect((await rows.row('s'))?.number).toBe(number), EVENTUALLY);

  beforeEach(async () => {
    store = await openStore('sqlite::memory:');
    services = servicesOn(store);
    rows = new SubscriptionRows(store.maps);
    sent = [];
    begun = 0;
    print = writeJson;
    defects = [];
    gate = Promise.resolve();
    const all = clientWith('system/Observation.rs');
    rights = { kept: all, now: all };
    engine = createSubscriptionEngine({
      services: () => services,
      accessOf: () => Promise.resolve(rights),
      base: () => 'http://own.example/fhir',
      async send({ body }) {
        begun++;
        await gate;
        sent.push(statusOf(body));
        return { status: 200, retryAfter: undefined };
      },
      print: (resource) => print(resource),
      ...{ holder: 'test', isGone: () => false, now: Date.now },
      settings: { retryFor: 1e9, keep: 1e9, keepLog: 1e9, atOnce: 10 },
      onWarning: () => {},
      onError: (error) => defects.push(error),
      counters: { matched: () => {}, delivered: () => {} },
      audited: () => {},
    });
    const topic: Resource = { ...triggered({}), id: 't' };
    const own = subscription({ id: 's' });
    await write(topic);
    await engine.prepare();
    await rows.keepOwner('s', NEW, contentDigest(own), { clientId: 'c', granted: 0 }, Date.now() + 1e6);
    await write(own);
    engine.open();
    await vi.waitFor(() => expect(sent.map(({ type }) => type)).toEqual(['handshake']), EVENTUALLY);
  });
  afterEach(async () => {
    await engine.close();
    await store.close();
    expect(defects.filter((each) => !String(each).includes('by the test'))).toEqual([]);
  });

  it('gets no event, and no number, of what a constraint hides', async () => {
    rights = { kept: rights.kept, now: clientWith('system/Observation.rs?code=1') };
    await observe('a', '2');
    await observe('b', '1');
    await vi.waitFor(() => expect(numbers()).toEqual([1]), EVENTUALLY);
    expect(sent.at(-1)!.notificationEvent![0]!.focus!.reference).toMatch(/\/Observation\/b$/);
  });

  it('gets number and time of what it may not read any more, and nothing else', async () => {
    let open = (): void => {};
    gate = new Promise((resolve) => (open = resolve));
    await observe('a', '1');
    await vi.waitFor(() => expect(begun).toBe(2), EVENTUALLY);
    await observe('b', '2');
    await counted(2);
    rights = { kept: rights.kept, now: clientWith('system/Observation.rs?code=1') };
    open();
    await vi.waitFor(() => expect(numbers()).toEqual([1, 2]), EVENTUALLY);
    const events = sent.flatMap(({ notificationEvent = [] }) => notificationEvent);
    const second = events.find(({ eventNumber }) => eventNumber === '2')!;
    expect(second.focus).toBeUndefined();
    expect(second.timestamp).toMatch(/^\d{4}-/);
  });

  it('is sent nothing while it is disabled; its events wait', async () => {
    const before = rights;
    rights = { kept: rights.kept, now: undefined };
    await observe('a', '1');
    await counted(1);
    const row = (await rows.row('s'))!;
    await vi.waitFor(
      async () => expect((await rows.sent('s', row)).value.errors[0]?.code).toBe('no-access'),
      EVENTUALLY,
    );
    expect(numbers()).toEqual([]);
    rights = before;
    await vi.waitFor(() => expect(numbers()).toEqual([1]), EVENTUALLY);
  });

  const sentOf = async () => (await rows.sent('s', (await rows.row('s'))!)).value;

  it('is told what the server cannot make, and gets it once it can', { timeout: 60_000 }, async () => {
    print = () => {
      throw new Error('broken by the test');
    };
    await observe('a', '1');
    await vi.waitFor(async () => expect((await sentOf()).failures).toBeGreaterThan(1), EVENTUALLY);
    const { errors, notBefore } = await sentOf();
    expect(errors[0]).toMatchObject({ code: 'error' });
    expect(errors[0]!.text).not.toContain('by the test');
    expect(notBefore).toBeDefined();
    print = writeJson;
    await vi.waitFor(() => expect(numbers()).toEqual([1]), EVENTUALLY);
  });

  it('has no failure of a store that is away', { timeout: 60_000 }, async () => {
    const away = [
      vi.spyOn(store, 'readVersion').mockRejectedValue(new Error('away by the test')),
      vi.spyOn(store, 'check').mockResolvedValue({ ok: false }),
    ];
    await observe('a', '1');
    await vi.waitFor(() => expect(defects.length).toBeGreaterThan(0), EVENTUALLY);
    for (const each of away) each.mockRestore();
    await vi.waitFor(() => expect(numbers()).toEqual([1]), EVENTUALLY);
    expect((await sentOf()).errors).toEqual([]);
  });
});
