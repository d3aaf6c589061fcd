import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { composePut } from '../../../runtime/core/write/compose-change.js';
import type { Services } from '../../../runtime/core/services.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import type { Store } from '../../../runtime/store/store.js';
import { compileTopic } from '../../../runtime/subscriptions/topic/compile-topic.js';
import { openStore } from '../../contract/open-store.js';
import { REFUSED, TAKEN } from '../../http/subscriptions/topic-cases.js';
import { matched, owned, planOf, servicesOn } from './matching.js';

const observation: Resource = {
  resourceType: 'Observation',
  meta: { tag: [{ code: 'x' }] },
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code: '1234-5' }] },
  subject: { reference: 'Patient/1' },
  effectiveDateTime: '2024-01-01',
  issued: '2024-01-01T00:00:00Z',
};
const before: Resource = { ...observation, status: 'registered' };
const patient: Resource = { resourceType: 'Patient', id: 'f', name: [{ family: 'x' }] };

/** More than 40 topics, half of which cannot be evaluated: each is refused or fires, none is silent. */
export function acceptedFires(newUrl: () => string): void {
  let store: Store;
  let services: Services;
  beforeAll(async () => {
    store = await openStore(newUrl());
    services = servicesOn(store);
    const include = [{ system: 'http://loinc.org', concept: [{ code: '1234-5' }] }];
    const all: Resource[] = [
      { resourceType: 'Patient', id: '1', name: [{ family: 'x' }] },
      { resourceType: 'Group', id: '1', type: 'person', membership: 'enumerated', member: [{ entity: { reference: 'Patient/f' } }] }, // prettier-ignore
      { resourceType: 'ValueSet', id: 'v', url: 'http://example.org/vs', status: 'active', compose: { include } },
      { resourceType: 'Observation', id: 'o', status: 'final', code: { coding: [{ code: 'x' }] }, subject: { reference: 'Patient/f' } }, // prettier-ignore
    ];
    for (const each of all) await store.write([(await composePut(each, String(each['id']), undefined, services))!]);
  }, 60_000);
  afterAll(() => store.close());

  describe('a topic that is taken fires', () => {
    it.each(TAKEN.filter(([, of]) => (of as Resource)['status'] !== 'retired'))('%s', async (_, of) => {
      const topic = of as Resource;
      const [{ resource } = { resource: '' }] = topic['resourceTrigger'] as { resource: string }[];
      const isPatient = resource === 'Patient';
      const all = [owned(planOf(topic, services), services)];
      expect(await matched(all, isPatient ? undefined : before, isPatient ? patient : observation, services)).toEqual(
        all,
      );
    });
  });

  it('those that are refused have no plan, or lack what is optional', () => {
    for (const [name, of] of REFUSED) {
      const { plan, faults, optional } = compileTopic(of as Resource, services);
      expect([faults.length + optional.length > 0, plan === undefined], name).toEqual([true, faults.length > 0]);
    }
    expect(REFUSED.length + TAKEN.length).toBeGreaterThan(40);
  });
}
