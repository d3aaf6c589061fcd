import { SUBSCRIPTION } from '../../core/write/content-to-store.js';
import { readJson } from '../../format/read-json.js';
import type { Resource } from '../../fhir/resource.js';
import type { Store } from '../../store/store.js';
import { SubscriptionRows } from '../engine/rows.js';

/** Returns the live Subscriptions (current contents) of a SubscriptionTopic. @param topicId its id */
export async function liveOn(store: Pick<Store, 'maps' | 'readMany'>, topicId: string): Promise<readonly Resource[]> {
  const all = await new SubscriptionRows(store.maps).rows();
  const live = [...all].filter(([, { value }]) => value.isLive && value.topic?.id === topicId);
  const current = await store.readMany(live.map(([id]) => ({ type: SUBSCRIPTION, id })));
  return current.flatMap((each) => (each?.json === undefined ? [] : [readJson(each.json) as Resource]));
}
