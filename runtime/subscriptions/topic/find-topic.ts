import { findAll } from '../../core/search-services/find-all.js';
import { readStored } from '../../core/read-stored.js';
import type { Services } from '../../core/services.js';
import type { Resource } from '../../fhir/resource.js';
import { compareText } from '../../search/query/compare-text.js';
import { textOf } from '../faults.js';
import { isUsable, SUBSCRIPTION_TOPIC } from './compile-topic.js';

/** Properties of a topic that decide which one a canonical means. */
export interface TopicVersion {
  readonly url: string;
  readonly version?: string | undefined;
  /** `lastUpdated`: milliseconds since the epoch. */
  readonly updated: number;
}

/**
 * The topic that `Subscription.topic` means: `url|version`, or of a `url` alone the highest version, then the youngest.
 * https://hl7.org/fhir/R5/references.html#canonical
 */
export function chooseTopic<T extends TopicVersion>(canonical: string, topics: readonly T[]): T | undefined {
  const { url, version } = splitCanonical(canonical);
  const named = topics.filter((each) => each.url === url && (version === undefined || each.version === version));
  return named.reduce<T | undefined>(
    (best, each) => (best === undefined || compareTopics(each, best) > 0 ? each : best),
    undefined,
  );
}

/** `url` and `version` of a canonical. */
export function splitCanonical(canonical: string): { readonly url: string; readonly version?: string } {
  const at = canonical.indexOf('|');
  return at < 0 ? { url: canonical } : { url: canonical.slice(0, at), version: canonical.slice(at + 1) };
}

function compareTopics(one: TopicVersion, other: TopicVersion): number {
  return compareVersions(one.version ?? '', other.version ?? '') || one.updated - other.updated;
}

/** Numbers by parts, else as text. */
function compareVersions(one: string, other: string): number {
  const [parts, others] = [one.split('.'), other.split('.')];
  for (let i = 0; i < Math.max(parts.length, others.length); i++) {
    const [a = '', b = ''] = [parts[i], others[i]];
    const areNumbers = /^\d{1,15}$/.test(a) && /^\d{1,15}$/.test(b);
    const order = areNumbers ? Number(a) - Number(b) : compareText(a, b);
    if (order !== 0) return order;
  }
  return 0;
}

/** Topics of one URL that are looked at. */
const PAGE = 100;

/**
 * Finds the topic that a canonical means among those in the store that take new Subscriptions; undefined: there is none.
 *
 * @param isAnyStatus whether the others are looked at where there is none of these
 */
export async function findTopic(
  canonical: string,
  isAnyStatus: boolean,
  services: Pick<Services, 'store' | 'largeTexts'>,
  signal?: AbortSignal,
): Promise<Resource | undefined> {
  const { url } = splitCanonical(canonical);
  const where = { param: 'url', any: [{ is: 'uri-equals', value: url }] } as const;
  const query = { type: SUBSCRIPTION_TOPIC, where, sort: [], count: PAGE, total: 'none' } as const;
  const { store } = services;
  const usable: (TopicVersion & { readonly topic: Resource })[] = [];
  const others: typeof usable = [];
  for await (const { json, lastUpdated } of findAll(query, (each, within) => store.find(each, within), signal)) {
    if (json === undefined) continue;
    const topic = await readStored(json, services);
    const into = isUsable(topic) ? usable : others;
    into.push({ url, version: textOf(topic['version']), updated: lastUpdated, topic });
  }
  return (chooseTopic(canonical, usable) ?? (isAnyStatus ? chooseTopic(canonical, others) : undefined))?.topic;
}
