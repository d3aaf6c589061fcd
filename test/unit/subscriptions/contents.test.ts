import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { createScopes } from '../../../runtime/auth/scopes/create-scopes.js';
import { Principal, SERVER } from '../../../runtime/auth/scopes/principal.js';
import { composePut } from '../../../runtime/core/write/compose-change.js';
import type { Services } from '../../../runtime/core/services.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { utc } from '../../../runtime/indexing/values/zone.js';
import type { Store } from '../../../runtime/store/store.js';
import { readContents } from '../../../runtime/subscriptions/engine/content.js';
import { topic } from '../../http/subscriptions/samples.js';
import { openStore } from '../../contract/open-store.js';
import { OWN } from '../../toy/own.js';
import { planOf, servicesOn } from './matching.js';

/** What is read for one notification has a limit, whatever it shows. */
describe('contents of a notification', () => {
  let store: Store;
  let services: Services;
  const MB = 1024 * 1024;
  const text = (size: number) => ({ text: { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${'x'.repeat(size)}</div>` } }); // prettier-ignore

  async function write(content: Resource): Promise<void> {
    const id = String(content['id']);
    const change = await composePut(content, id, await store.read(content.resourceType, id), services);
    await store.write([change!]);
  }

  /** Events of Observations o1, o2 … with what a topic includes. */
  async function contentsOf(count: number, level: 'id-only' | 'full-resource', principal = SERVER) {
    const plan = planOf(topic({ notificationShape: [{ resource: 'Observation', include: ['Observation:subject'] }] }), services); // prettier-ignore
    const events = Array.from({ length: count }, (_, i) => ({
      ...{ number: i + 1, seq: i + 1, updated: 0, type: 'Observation', id: `o${i + 1}`, version: 1 },
      interaction: 'create' as const,
    }));
    const request = { plan: { topic: plan, level }, principal, signal: new AbortController().signal };
    return readContents(events, request, services);
  }

  const observe = (n: number, size: number, subject?: string) =>
    write({
      ...{ resourceType: 'Observation', id: `o${n}`, status: 'final', code: { text: 'x' }, ...text(size) },
      ...(subject !== undefined && { subject: { reference: `Patient/${subject}` } }),
    });

  beforeEach(async () => {
    store = await openStore('sqlite::memory:');
    services = servicesOn(store);
  });
  afterEach(() => store.close());

  it('stay below about 10 MB', async () => {
    for (const n of [1, 2, 3]) await observe(n, 4 * MB);
    const { events } = await contentsOf(3, 'full-resource');
    expect(events.map(({ number }) => number)).toEqual([1, 2]);
  });

  it('are at least of one event, and what it includes comes as far as it fits', async () => {
    await write({ resourceType: 'Patient', id: 'p', ...text(4 * MB) });
    await observe(1, 8 * MB, 'p');
    await observe(2, 10);
    const { events, included } = await contentsOf(2, 'full-resource');
    expect(events).toMatchObject([{ number: 1, focus: { context: [{ type: 'Patient', id: 'p' }] } }]);
    expect(included).toEqual([]);
  });

  it('count what is read for ids alone', async () => {
    await write({ resourceType: 'Patient', id: 'p', ...text(3 * MB) });
    for (let n = 1; n <= 10; n++) await observe(n, 10, 'p');
    const { events } = await contentsOf(10, 'id-only');
    expect(events.map(({ number }) => number)).toEqual([1, 2, 3]);
    expect(events[0]!.focus!.context).toEqual([{ type: 'Patient', id: 'p' }]);
  });

  it('have nothing that a current version refers to which may not be read, where that of the event may', async () => {
    for (const id of ['p', 'q']) await write({ resourceType: 'Patient', id });
    const scope = 'system/Observation.rs?status=final system/Patient.rs';
    const { access } = createScopes({ tables, zone: utc, own: OWN });
    const client = Principal.ofClient({ clientId: 'c', scope, access: access(scope) });
    await observe(1, 10, 'p');
    const [before] = (await contentsOf(1, 'id-only', client)).events;
    expect(before!.focus).toMatchObject({ id: 'o1', context: [{ type: 'Patient', id: 'p' }] });
    const hidden = { resourceType: 'Observation', id: 'o1', status: 'amended', code: { text: 'x' } };
    await write({ ...hidden, subject: { reference: 'Patient/q' } });
    const [after] = (await contentsOf(1, 'id-only', client)).events;
    expect(after!.focus).toEqual({ type: 'Observation', id: 'o1', interaction: 'create' });
  });
});
