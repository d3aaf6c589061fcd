import { formatInstant } from '../../fhir/instant.js';
import { template } from '../engine.js';
import { framedPage, type Page } from '../framed.js';
import type { Paths, Site } from '../site.js';

/** A Subscription that is shown. */
interface ShownSubscription {
  readonly id: string;
  readonly name: string;
  readonly topic: string;
  readonly channel: string;
  readonly status: string;
  readonly events: number;
  readonly waiting: number;
  readonly errors: readonly { readonly text: string; readonly at: number }[];
  readonly mayRetry: boolean;
}

interface SubscriptionLine extends Omit<ShownSubscription, 'errors'> {
  readonly topicQuery: string;
  readonly error: string;
  readonly at: string;
}

const render = template<{ paths: Paths; subscriptions: readonly SubscriptionLine[] }>('subscriptions');

/** The page of Subscriptions, with what is not delivered and what failed last. @param all those that the client may see */
export function subscriptionsPage(all: readonly ShownSubscription[], site: Site, paths: Paths): Page {
  const subscriptions = all.map(({ errors: [last], ...rest }): SubscriptionLine => ({
    ...rest,
    topicQuery: encodeURIComponent(rest.topic.replace(/\|.*/, '')),
    error: last?.text ?? '',
    at: last === undefined ? '' : formatInstant(last.at),
  }));
  return framedPage(site, paths, 'Subscriptions', render({ paths, subscriptions }));
}
