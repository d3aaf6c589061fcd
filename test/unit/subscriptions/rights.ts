import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { OWN } from '../../toy/own.js';
import { tables } from '../../../generated/tables.js';
import { createScopes } from '../../../runtime/auth/scopes/create-scopes.js';
import { Principal } from '../../../runtime/auth/scopes/principal.js';
import { composePut } from '../../../runtime/core/write/compose-change.js';
import type { Services } from '../../../runtime/core/services.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { utc } from '../../../runtime/indexing/values/zone.js';
import type { Store } from '../../../runtime/store/store.js';
import { openStore } from '../../contract/open-store.js';
import { triggered } from '../../http/subscriptions/samples.js';
import { matched, owned, planOf, servicesOn } from './matching.js';

const { access } = createScopes({ tables, zone: utc, own: OWN });
const clientWith = (scope: string): Principal => Principal.ofClient({ clientId: 'c', scope, access: access(scope) });

/** What owners may read decides on events, and on what criteria see of other resources. */
export function rightsAtMatching(newUrl: () => string): void {
  let store: Store;
  let services: Services;
  beforeAll(async () => {
    store = await openStore(newUrl());
    services = servicesOn(store);
    const all: Resource[] = [
      { resourceType: 'Patient', id: 'ann', gender: 'female', name: [{ family: 'X' }] },
      { resourceType: 'Patient', id: 'bob', gender: 'male', name: [{ family: 'X' }] },
      { resourceType: 'Group', id: 'g', membership: 'enumerated', type: 'person', member: [{ entity: { reference: 'Patient/ann' } }] }, // prettier-ignore
    ];
    for (const each of all) await store.write([(await composePut(each, String(each['id']), undefined, services))!]);
  });
  afterAll(() => store.close());

  const observation = (subject: string, code = '1'): Resource => ({
    resourceType: 'Observation',
    status: 'final',
    code: { coding: [{ code }] },
    subject: { reference: `Patient/${subject}` },
  });
  const gets = async (scope: string, topic: Resource, before: Resource | undefined, after: Resource | undefined) =>
    (await matched([owned(planOf(topic, services), services, {}, clientWith(scope))], before, after, services)).length >
    0;

  describe('the focus', () => {
    const topic = triggered({});
    it.each<[string, string, Resource | undefined, Resource | undefined, boolean]>([
      ['without a constraint', 'system/Observation.rs', undefined, observation('ann'), true],
      ['with r alone', 'system/Observation.r', undefined, observation('ann'), false],
      ['within the constraint', 'system/Observation.rs?code=1', undefined, observation('ann'), true],
      ['outside of it', 'system/Observation.rs?code=2', undefined, observation('ann'), false],
      ['that leaves it', 'system/Observation.rs?code=1', observation('ann'), observation('ann', '2'), false],
      ['that comes into it', 'system/Observation.rs?code=1', observation('ann', '2'), observation('ann'), true],
      ['of another type', 'system/Patient.rs', undefined, observation('ann'), false],
    ])('%s', async (_, scope, before, after, expected) => {
      expect(await gets(scope, topic, before, after)).toBe(expected);
    });
  });

  describe('a version before that the owner may not read', () => {
    const previous = 'code=2';
    const scope = 'system/Observation.rs?code=1';
    const came = [observation('ann', '2'), observation('ann', '1')] as const;
    it.each<[string, object, boolean]>([
      ['previous holds', { queryCriteria: { previous } }, false],
      ['previous takes no part', { queryCriteria: { previous: 'code=3', current: 'code=1', requireBoth: true } }, true],
      ['%previous', { fhirPathCriteria: "%previous.code.coding.code = '2'" }, false],
      ['%previous is empty', { fhirPathCriteria: '%previous.empty()' }, true],
    ])('counts as not given: %s', async (_, trigger, expected) => {
      expect(await gets(scope, triggered(trigger), ...came)).toBe(expected);
      expect(await gets('system/Observation.rs', triggered(trigger), ...came)).toBe(!expected);
    });

    it('is judged for each owner by itself', async () => {
      const plan = planOf(triggered({ queryCriteria: { previous } }), services);
      const all = [scope, 'system/*.rs', 'system/Observation.rs?subject=Patient/ann'].map((each) =>
        owned(plan, services, {}, clientWith(each)),
      );
      expect(await matched(all, ...came, services)).toEqual(all.slice(1));
    });
  });

  describe('chains, _has and _in', () => {
    const chain = triggered({ queryCriteria: { current: 'subject:Patient.family=X' } });
    const inGroup = triggered({ queryCriteria: { current: 'patient._in=Group/g' } });
    it.each<[string, Resource, string, string, boolean]>([
      ['what may be searched', chain, 'system/Observation.rs system/Patient.s', 'bob', true],
      ['what a constraint hides', chain, 'system/Observation.rs system/Patient.s?gender=female', 'bob', false],
      ['what a constraint shows', chain, 'system/Observation.rs system/Patient.s?gender=female', 'ann', true],
      ['what may not be searched', chain, 'system/Observation.rs', 'ann', false],
      ['a member', inGroup, 'system/*.rs', 'ann', true],
      ['no member', inGroup, 'system/*.rs', 'bob', false],
    ])('lead to %s', async (_, topic, scope, subject, expected) => {
      expect(await gets(scope, topic, undefined, observation(subject))).toBe(expected);
    });

    it('are judged for each owner by itself', async () => {
      const plan = planOf(chain, services);
      const all = ['system/Patient.s', 'system/Patient.s?gender=female', 'system/Patient.s?gender=male'].map((scope) =>
        owned(plan, services, {}, clientWith(`system/Observation.rs ${scope}`)),
      );
      expect(await matched(all, undefined, observation('bob'), services)).toEqual([all[0], all[2]]);
    });
  });
}
