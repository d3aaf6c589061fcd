import { OPERATOR } from '../../auth/scopes/principal.js';
import type { Services, SubscriptionChecks } from '../../core/services.js';
import { contentToStore, SUBSCRIPTION } from '../../core/write/content-to-store.js';
import { refuse } from '../../core/write/validate-resource.js';
import { FhirError } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import type { StoredVersion } from '../../store/store.js';
import { createServing } from '../../http/create-services.js';
import type { Core } from '../../server.js';
import { createSubscriptionChecks } from '../../subscriptions/check/create-subscription-checks.js';
import { liveOn } from '../../subscriptions/check/live-on.js';
import { isLive } from '../../subscriptions/check/status.js';
import { Faults, textOf } from '../../subscriptions/faults.js';

/** Services that a load works with. */
export type LoadedCore = Omit<Core, 'largeTexts'> & Partial<Pick<Services, 'largeTexts' | 'validateByProfiles'>>;

/** Checks of resources that are put straight into a store. */
export interface LoadChecks {
  /** Those of the moment, with the checks, for Bundles that are executed. */
  readonly services: () => Services;
  /**
   * Checks a topic or a Subscription; others are not looked at. Of a package a topic is taken that cannot be evaluated, as its search
   * parameters are: what names it is refused.
   *
   * @throws FhirError as `SubscriptionChecks.checkPut`
   */
  check(resource: Resource, id: string, current: StoredVersion | undefined, isOfPackage: boolean): Promise<void>;
}

/**
 * Checks without a server. A topic is checked as a server does it. A Subscription that would have to fire is refused: whether it can, and
 * whose rights it has, is known to a server only.
 */
export function openLoadChecks(core: LoadedCore): LoadChecks {
  const topics = createSubscriptionChecks({
    hasWebsocket: false,
    perClient: Infinity,
    endpointFault: () => undefined,
    takePlace: () => Promise.resolve(true),
    liveOn: (topicId) => liveOn(core.store, topicId),
  });
  const checks: SubscriptionChecks = {
    ...topics,
    checkPut(content, ...more) {
      if (content.resourceType !== SUBSCRIPTION) return topics.checkPut(content, ...more);
      refuseLive(content);
      return Promise.resolve(content);
    },
  };
  const serving = createServing({ ...core, subscriptions: checks }, core.definitions.current);
  return {
    services: () => serving().services,
    async check(resource, id, current, isOfPackage) {
      const { resourceType: type } = resource;
      if (!checks.types.has(type)) return;
      try {
        await contentToStore(resource, { id, current }, { principal: OPERATOR }, serving().services);
      } catch (error) {
        if (!isOfPackage || !(error instanceof FhirError) || error.code !== 'topic-refused') throw error;
        await checks.checkDelete(type, id);
      }
    },
  };
}

function refuseLive(resource: Resource): void {
  if (!isLive(resource)) return;
  const faults = new Faults(SUBSCRIPTION, 'subscription-refused');
  const text = `is ${textOf(resource['status'])}, but what is put straight into a store never fires: load it through a server (--url or --running), or with status off`;
  faults.add('status', text, 'not-supported');
  refuse(faults.issues);
}
