import { afterAll, beforeAll, expect, it, vi } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { createValidator } from '../../../runtime/validate/create-validator.js';
import { EVENTUALLY } from '../../eventually.js';
import { startKiln, type KilnProcess } from '../kiln-process.js';
import { startReceiver, type Receiver } from './receiver.js';
import { clientOf, subscription, topic, TOPIC_URL } from './server.js';

let receiver: Receiver;
let kiln: KilnProcess;
let base = '';
const client = clientOf(() => base);
const validate = createValidator(tables);

beforeAll(async () => {
  receiver = await startReceiver();
  kiln = startKiln(['serve', '--port', '0', '--store', 'sqlite::memory:', '--audit-sink', 'store', '--subscriptions-allow', '127.0.0.1']); // prettier-ignore
  base = await kiln.started;
}, 120_000);
afterAll(async () => {
  kiln.child.kill('SIGTERM');
  await kiln.ended;
  await receiver.close();
});

interface Event {
  readonly code: { readonly coding: readonly { readonly code: string }[] };
  readonly outcome: { readonly code: { readonly code: string } };
  readonly entity: readonly { readonly what: { readonly reference?: string }; readonly detail?: readonly { readonly valueString: string }[] }[]; // prettier-ignore
}

/** The events of notifications of a Subscription, oldest first. */
async function told(id: string): Promise<Event[]> {
  const { json } = await client.send('GET', `AuditEvent?entity=Subscription/${id}&_count=100&_sort=_lastUpdated`);
  const all = ((json.entry ?? []) as { resource: Event }[]).map(({ resource }) => resource);
  return all.filter(({ code }) => code.coding[0]!.code === '110106');
}

it('each notification has an event of the audit, and no event tells of itself', { timeout: 120_000 }, async () => {
  await client.put(topic('patients', TOPIC_URL, { resource: 'Patient' }));
  await client.put(topic('events', `${TOPIC_URL}-events`, { resource: 'AuditEvent' }));
  await client.put(subscription('all', receiver.url, { topic: `${TOPIC_URL}-events` }));
  await client.put(subscription('s', receiver.url));
  await vi.waitFor(() => expect(receiver.statuses('s').map(({ type }) => type)).toEqual(['handshake']), EVENTUALLY);
  receiver.answer = ({ text }) => (text.includes('/Subscription/s"') && receiver.numbers('s').length === 0 ? 503 : 200);
  await client.put({ resourceType: 'Patient', id: 'p' });
  await vi.waitFor(async () => expect(await told('s')).not.toEqual([]), EVENTUALLY);
  receiver.answer = () => 200;
  await vi.waitFor(async () => expect((await told('s')).map(({ outcome }) => outcome.code.code)).toContain('0'), EVENTUALLY); // prettier-ignore
  const events = await told('s');
  expect(events[0]!.outcome).toMatchObject({ code: { code: '8' }, detail: [{ text: 'the receiver answered 503' }] });
  for (const event of events) {
    expect(validate(event as never)).toEqual([]);
    expect(event.entity.map(({ what }) => what.reference)).toEqual(['Subscription/s', 'Patient/p/_history/1']);
    expect(event.entity[0]!.detail![0]!.valueString).toBe('1');
  }
  await vi.waitFor(() => expect(receiver.numbers('all').length).toBeGreaterThan(events.length), EVENTUALLY);
  expect(await told('all')).toEqual([]);
});
