import { vi } from 'vitest';

import type { Resource } from '../../../../runtime/fhir/resource.js';
import type { Store } from '../../../../runtime/store/store.js';
import { SubscriptionRows } from '../../../../runtime/subscriptions/engine/rows.js';
import { EVENTUALLY } from '../../../eventually.js';
import type { ToyServer } from '../../server.js';
import { idsOfType, type Draft } from './leak-world.js';

/** What comes along with the foci of events: of it too a client gets what it may read. */
const SHAPES = [
  { resource: 'Patient', revInclude: ['Observation:subject', 'Encounter:subject'] },
  { resource: 'Observation', include: ['Observation:subject', 'Observation:encounter'] },
];

/** Events of one Subscription. */
const EVENTS = 60;

/** When the first of them was: not when its version was written, which is at another time on the other side. */
const FIRST = Date.parse('2024-01-01T00:00:00Z');

/**
 * Two Subscriptions whose owner may read everything, with events about versions of some resources, and a topic with includes. Another client that
 * may read the Subscriptions asks for their events.
 *
 * @param told the store may lack some of them
 */
export async function subscribe(store: Store, open: ToyServer, told: readonly Draft[]): Promise<void> {
  const topic = { resourceType: 'SubscriptionTopic', id: 'top', url: 'http://topic.example/all', status: 'active' };
  const resourceTrigger = [{ resource: 'Resource' }];
  await put(open, { ...topic, resourceTrigger, notificationShape: SHAPES });
  const rows = new SubscriptionRows(store.maps);
  const versions = told.flatMap(({ type, id, versions: all }) =>
    all.map(({ content }, n) => ({ type, id, version: n + 1, isDeletion: content === undefined })),
  );
  for (const [n, id] of idsOfType('Subscription').slice(0, 2).entries()) {
    const channelType = { code: 'rest-hook' };
    const content = ['id-only', 'full-resource'][n]!;
    await put(open, { resourceType: 'Subscription', id, status: 'active', topic: topic.url, channelType, content });
    // Each has others.
    const events = versions.filter((_, i) => i % 2 === n).slice(0, EVENTS);
    const row = {
      ...{ born: 1, version: 1, owner: { clientId: 'owner', granted: FIRST }, number: events.length, isLive: true },
      topic: { canonical: topic.url, id: 'top', version: 1 },
    };
    const steps = events.map(({ isDeletion, ...focus }, i) => {
      const interaction = isDeletion ? 'delete' : focus.version === 1 ? 'create' : 'update';
      return rows.eventStep(id, row, { ...focus, seq: i + 1, number: i + 1, updated: FIRST + i * 1000, interaction });
    });
    await rows.save([rows.rowStep(id, undefined, row), ...steps]);
  }
}

/** Resolves when the log has everything that was written before. */
export async function caughtUp({ log }: Store, open: ToyServer): Promise<void> {
  const from = await log.end();
  const marker = { resourceType: 'Linkage', id: `m${from}`, active: true };
  await put(open, marker);
  await vi.waitFor(async () => {
    const all = (await log.read(from, 1000)) ?? [];
    if (!all.some(({ id }) => id === marker.id)) throw new Error('not yet');
  }, EVENTUALLY);
}

async function put(open: ToyServer, resource: Resource): Promise<void> {
  const { status, text } = await open.send('PUT', `/${resource.resourceType}/${String(resource['id'])}`, resource);
  if (status >= 300) throw new Error(text);
}
