import { expect } from 'vitest';

const JSON_TYPE = 'application/fhir+json';

/** A topic that tells of every version of Patients. */
export const TOPIC_URL = 'http://topic.example/patients';

/** Requests to a server. */
export interface Client {
  send(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly json: any }>; // eslint-disable-line @typescript-eslint/no-explicit-any
  put(resource: {
    readonly resourceType: string;
    readonly id: string;
    readonly [name: string]: unknown;
  }): Promise<void>;
  delete(path: string): Promise<void>;
}

/** @param base the FHIR base; asked for each time */
export function clientOf(base: () => string): Client {
  const send: Client['send'] = async (method, path, body) => {
    const answer = await fetch(`${base()}/${path}`, {
      method,
      headers: { 'content-type': JSON_TYPE },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, json: text === '' ? undefined : JSON.parse(text) };
  };
  return {
    send,
    async put(resource) {
      const { status, json } = await send('PUT', `${resource.resourceType}/${resource.id}`, resource);
      expect([200, 201], JSON.stringify(json)).toContain(status);
    },
    async delete(path) {
      expect((await send('DELETE', path)).status).toBeLessThan(300);
    },
  };
}

/** A topic of one trigger. */
export function topic(id: string, url: string, trigger: object, more: object = {}) {
  return { resourceType: 'SubscriptionTopic', id, url, status: 'active', resourceTrigger: [trigger], ...more };
}

/** A Subscription by rest-hook. */
export function subscription(id: string, endpoint: string, more: object = {}) {
  return {
    resourceType: 'Subscription',
    id,
    status: 'requested',
    topic: TOPIC_URL,
    channelType: { code: 'rest-hook', system: 'http://terminology.hl7.org/CodeSystem/subscription-channel-type' },
    endpoint,
    contentType: JSON_TYPE,
    content: 'id-only',
    ...more,
  };
}
