import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import { isJudged } from '../../core/access/visibility.js';
import { memoize } from '../../fhir/memory/memoize.js';
import type { IndexEntry } from '../../indexing/entry.js';
import type { Criterion, ValueTest } from '../../search/query/query.js';
import type { FilterPlan, OwnedSubscription, TopicPlan, TriggerInteraction } from '../plan.js';
import type { Focus } from './focus.js';

/** The Subscriptions of one topic. */
export interface TopicGroup<T extends OwnedSubscription> {
  readonly topic: TopicPlan;
  /** Those whose filters a version may fulfil: others have a filter by equality that it does not. */
  candidates(focus: Focus): Iterable<T>;
  /** Whether some owner may read only some of the versions of a type. */
  hides(type: string): boolean;
}

/** Live Subscriptions, to be found by what a version is and says. */
export interface SubscriptionIndex<T extends OwnedSubscription> {
  /** Topics with Subscriptions that a version of a type may fire. */
  topics(type: string, interaction: TriggerInteraction): readonly TopicGroup<T>[];
}

/** Indexes Subscriptions by topic. Those of one topic share its `TopicPlan`, so that it is evaluated once for a version. */
export function indexSubscriptions<T extends OwnedSubscription>(all: Iterable<T>): SubscriptionIndex<T> {
  const byTopic = new Map<TopicPlan, T[]>();
  for (const each of all) {
    const group = byTopic.get(each.plan.topic);
    if (group === undefined) byTopic.set(each.plan.topic, [each]);
    else group.push(each);
  }
  const groups = [...byTopic].map(([topic, members]) => createGroup(topic, members));
  const known = new Map<string, readonly TopicGroup<T>[]>();
  return {
    topics(type, interaction) {
      const key = `${type} ${interaction}`;
      let found = known.get(key);
      if (found === undefined) {
        found = groups.filter(({ topic }) =>
          topic.triggers.some(({ focus, interactions }) => focus.types.has(type) && interactions.has(interaction)),
        );
        known.set(key, found);
      }
      return found;
    },
  };
}

/** Subscriptions by the values that one of their filters asks for, and all others. */
interface ByValue<T> {
  readonly byKey: ReadonlyMap<string, readonly T[]>;
  readonly rest: readonly T[];
}

function createGroup<T extends OwnedSubscription>(topic: TopicPlan, members: readonly T[]): TopicGroup<T> {
  const byType = new Map<string, ByValue<T>>();
  const hides = memoize((type: string) =>
    members.some(({ principal: { access } }) => access !== OPEN_ACCESS && isJudged(type, access.on(type, 'rs'))),
  );
  return {
    hides,
    topic,
    candidates({ type, candidate }) {
      let found = byType.get(type);
      if (found === undefined) byType.set(type, (found = indexByValue(type, members)));
      const { byKey, rest } = found;
      if (byKey.size === 0) return rest;
      const keys = new Set([idKey(candidate.id), ...candidate.entries.flatMap(keysOf)]);
      // A Subscription with several values may be found by more than one.
      return new Set([...rest, ...[...keys].flatMap((key) => byKey.get(key) ?? [])]);
    },
  };
}

function indexByValue<T extends OwnedSubscription>(type: string, members: readonly T[]): ByValue<T> {
  const byKey = new Map<string, T[]>();
  const rest: T[] = [];
  for (const member of members) {
    const keys = keysOfFilters(member.plan.filters.filter(({ types }) => types.has(type)));
    if (keys === undefined) rest.push(member);
    for (const key of keys ?? []) {
      const found = byKey.get(key);
      if (found === undefined) byKey.set(key, [member]);
      else found.push(member);
    }
  }
  return { byKey, rest };
}

/** Keys one of which a version has that fulfils all filters; undefined: none of them is by equality. */
function keysOfFilters(filters: readonly FilterPlan[]): readonly string[] | undefined {
  for (const { criteria } of filters) {
    for (const criterion of criteria) {
      const keys = keysOfCriterion(criterion);
      if (keys !== undefined) return keys;
    }
  }
  return undefined;
}

function keysOfCriterion(criterion: Criterion): readonly string[] | undefined {
  if ('ids' in criterion) return criterion.ids.map(idKey);
  if (!('any' in criterion)) return undefined;
  const keys = criterion.any.map((test) => keyOfTest(criterion.param, test));
  return keys.every((key) => key !== undefined) ? keys : undefined;
}

function keyOfTest(param: string, test: ValueTest): string | undefined {
  if (test.is === 'token' && test.code !== undefined) {
    return tokenKey(param, test.system === undefined ? ANY : (test.system ?? ''), test.code);
  }
  return test.is === 'reference' && test.id !== undefined ? referenceKey(param, test.id) : undefined;
}

/** The keys by which the tests are found that an entry may fulfil. */
function keysOf(entry: IndexEntry): readonly string[] {
  if (entry.kind === 'token' && entry.code !== undefined) {
    return [tokenKey(entry.param, ANY, entry.code), tokenKey(entry.param, entry.system ?? '', entry.code)];
  }
  return entry.kind === 'reference' && entry.id !== undefined ? [referenceKey(entry.param, entry.id)] : [];
}

/** In place of a system: no URI has a blank. */
const ANY = ' ';

function idKey(id: string): string {
  return `i ${id}`;
}

function tokenKey(param: string, system: string, code: string): string {
  return `t ${param} ${system}|${code}`;
}

function referenceKey(param: string, id: string): string {
  return `r ${param} ${id}`;
}
