import type { ListedSubscription } from '../../core/listed-subscription.js';
import { formatInstant } from '../../fhir/instant.js';
import { template } from '../engine.js';
import { framedPage, type Page } from '../framed.js';
import type { Paths, Site } from '../site.js';

interface SubscriptionLine extends Omit<ListedSubscription, 'errors'> {
  readonly topicQuery: string;
  readonly error: string;
  readonly at: string;
}

const render = template<{ paths: Paths; subscriptions: readonly SubscriptionLine[] }>('subscriptions');

/** The page of Subscriptions, with what is not delivered and what failed last. @param all those that the client may see */
export function subscriptionsPage(all: readonly ListedSubscription[], site: Site, paths: Paths): Page {
  const subscriptions = all.map(({ errors: [last], ...rest }): SubscriptionLine => ({
    ...rest,
    topicQuery: encodeURIComponent(rest.topic.replace(/\|.*/, '')),
    error: last?.text ?? '',
    at: last === undefined ? '' : formatInstant(last.at),
  }));
  return framedPage(site, paths, 'Subscriptions', render({ paths, subscriptions }));
}
