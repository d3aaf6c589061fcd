import type { Send } from '../servers/send.js';

/** How the URLs of topics begin; their ids follow. */
export const TOPIC = 'http://topic.example/';

/** The text of a topic of one trigger. */
export function topicOf(id: string, trigger: object, more: object = {}): string {
  const url = `${TOPIC}${id}`;
  return JSON.stringify({ resourceType: 'SubscriptionTopic', id, url, status: 'active', resourceTrigger: [trigger], ...more }); // prettier-ignore
}

/** Writes a Subscription by rest-hook. */
export async function subscribe(send: Send, id: string, more: object): Promise<void> {
  const fixed = { resourceType: 'Subscription', id, status: 'requested', channelType: { code: 'rest-hook' }, content: 'id-only' }; // prettier-ignore
  await send('PUT', `/Subscription/${id}`, JSON.stringify({ ...fixed, ...more }));
}
