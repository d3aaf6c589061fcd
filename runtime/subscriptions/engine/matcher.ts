import type { Principal } from '../../auth/scopes/principal.js';
import { SUBSCRIPTION } from '../../core/write/content-to-store.js';
import { readStored } from '../../core/read-stored.js';
import type { Services } from '../../core/services.js';
import type { MapStep, StoredVersion } from '../../store/store.js';
import type { LoggedVersion } from '../../store/version-log.js';
import { compileSubscription } from '../check/compile-subscription.js';
import { matchVersion } from '../match/match-version.js';
import { indexSubscriptions, type SubscriptionIndex } from '../match/subscription-index.js';
import type { SubscriptionPlan, TopicPlan, VersionChange } from '../plan.js';
import { compileTopic, SUBSCRIPTION_TOPIC } from '../topic/compile-topic.js';
import { findTopic } from '../topic/find-topic.js';
import { contentDigest, NEW } from './digest.js';
import { showsTriggers, type EngineParts, type MatchedSubscription } from './parts.js';
import type { Kept, MatchCursor, SubscriptionRow, SubscriptionRows } from './rows.js';
import { LIVE } from './write-status.js';

/** Versions that are matched together. */
const AT_ONCE = 200;

/** Versions that are read together: each may be as large as resources may be. */
const READ = 20;

/** How long what owners may read is taken for what it was, in milliseconds. */
const RIGHTS = 500;

/** What is stored was accepted: whether its endpoint may be reached now, or web sockets are offered, is seen when it is. */
const COMPILING = { hasWebsocket: true, endpointFault: () => undefined };

/** How long after the last write of a Subscription the log is read without any, in milliseconds. */
const IDLE = 600_000;

/** How long a cursor may stay where it is while nothing matches, in milliseconds. */
const LATE = 1000;

/** Another process matches: what this one decided was not written. */
export class MatcherReplaced extends Error {}

interface Live {
  readonly id: string;
  readonly plan: SubscriptionPlan;
  readonly principal: Principal;
}

/**
 * Reads the log from its cursor, and makes an event for each version that a Subscription is to be notified of. Subscriptions and topics are
 * versions in the log too: each takes effect at its place. Events, their numbers and the cursor are written together, and only
 * if no other process has done so.
 */
export class Matcher {
  private cursor: Kept<MatchCursor | undefined> = { text: undefined, value: undefined };
  /** Where the matcher is: after the cursor where nothing has matched since. */
  private at = 0;
  private saved = -Infinity;
  private rows = new Map<string, Kept<SubscriptionRow>>();
  private changed = new Map<string, SubscriptionRow | undefined>();
  private readonly plans = new Map<string, { readonly key: string; readonly plan: SubscriptionPlan | undefined }>();
  private readonly topics = new Map<string, TopicPlan | undefined>();
  private definitions: unknown;
  private readonly living = new Map<string, MatchedSubscription>();
  /** Subscriptions that `living` has as they were. */
  private readonly news = new Set<string>();
  private readonly changes = new Set<string>();
  private indexedAt = -Infinity;
  private index: { readonly key: string; readonly of: SubscriptionIndex<Live> } | undefined;
  private gone: { readonly id: string; readonly born: number }[] = [];

  constructor(
    private readonly parts: EngineParts,
    private readonly kept: SubscriptionRows,
  ) {}

  /** Reads where it is. @returns false: there is nothing to match */
  async open(): Promise<boolean> {
    this.cursor = await this.kept.cursor();
    if (this.cursor.value === undefined) return false;
    this.at = this.cursor.value.seq;
    const before = this.rows;
    this.rows = await this.kept.rows();
    for (const id of [...before.keys(), ...this.rows.keys()]) this.news.add(id);
    return true;
  }

  /** The place in the log after what was matched. */
  get seq(): number {
    return this.at;
  }

  /** The Subscriptions that live, as of the last step. */
  async live(): Promise<ReadonlyMap<string, MatchedSubscription>> {
    for (const id of this.news) {
      const row = this.rows.get(id)?.value;
      if (row?.isLive === true) this.living.set(id, { row, plan: await this.planOf(id, row) });
      else this.living.delete(id);
      this.changes.add(id);
    }
    this.news.clear();
    return this.living;
  }

  /** Returns which Subscriptions live, or live no more, other than when it was called last; `live` comes before. */
  takeChanges(): readonly string[] {
    const ids = [...this.changes];
    this.changes.clear();
    return ids;
  }

  /** All that is kept, with those that are off. */
  all(): ReadonlyMap<string, Kept<SubscriptionRow>> {
    return this.rows;
  }

  /**
   * Matches the next versions.
   *
   * @returns `more`: there may be more at once; `none`: there were none; `over`: no Subscription is left, and the log is read no more
   * @throws MatcherReplaced
   */
  async step(signal: AbortSignal): Promise<'more' | 'none' | 'over'> {
    const { store } = this.parts.services();
    const { value } = this.cursor;
    if (value === undefined) return 'over';
    const logged = await store.log.read(this.at, AT_ONCE);
    if (logged === undefined) {
      this.parts.onWarning(
        'the log of versions does not go back to what subscriptions have seen: what lies between is not notified',
      );
      await this.save([], { ...value, seq: await store.log.end() });
      return 'more';
    }
    const last = logged.at(-1);
    if (last === undefined) {
      if (this.at !== value.seq && performance.now() - this.saved > LATE)
        await this.save([], { ...value, seq: this.at });
      if (this.rows.size > 0 || this.parts.now() - value.touched < IDLE) return 'none';
      return (await this.save([], undefined)) ? 'over' : 'more';
    }
    this.changed = new Map();
    this.gone = [];
    const events: MapStep[] = [];
    const counted = { events: 0, failures: 0 };
    await this.refresh();
    for (let from = 0; from < logged.length; from += READ) {
      const some = logged.slice(from, from + READ);
      const current = await this.readCurrent(some);
      for (const [i, entry] of some.entries()) {
        signal.throwIfAborted();
        await this.match(entry, current[i], events, counted, signal);
        if (entry.type === SUBSCRIPTION) await this.learnSubscription(entry);
        else if (entry.type === SUBSCRIPTION_TOPIC) await this.learnTopic(entry);
      }
    }
    // What matched nothing could be looked at again: its place need not be stored each time.
    const isDue = events.length > 0 || this.changed.size > 0 || performance.now() - this.saved > LATE;
    if (!isDue) this.at = last.seq;
    else if (!(await this.save(events, { ...value, seq: last.seq }))) return 'more';
    this.parts.counters.matched(counted.events, counted.failures);
    return logged.length === AT_ONCE ? 'more' : 'none';
  }

  /** Forgets Subscriptions that were expunged: the log does not say so. @throws MatcherReplaced */
  async forgetExpunged(): Promise<void> {
    const { store } = this.parts.services();
    const ids = [...this.rows.keys()];
    const current = await store.readMany(ids.map((id) => ({ type: SUBSCRIPTION, id })));
    const gone = ids.filter((_id, i) => current[i] === undefined);
    if (gone.length === 0 || this.cursor.value === undefined) return;
    for (const id of gone) {
      this.gone.push({ id, born: this.rows.get(id)!.value.born });
      this.set(id, undefined);
    }
    await this.save([], { ...this.cursor.value, seq: this.at });
  }

  /** Writes what was decided, or nothing. @returns false: a Subscription is being written, and the cursor says so now */
  private async save(events: readonly MapStep[], cursor: MatchCursor | undefined): Promise<boolean> {
    const rows = [...this.changed].map(([id, row]) => this.kept.rowStep(id, this.rows.get(id)?.text, row));
    const isSaved = await this.kept.save([this.kept.cursorStep(this.cursor.text, cursor), ...rows, ...events]);
    if (!isSaved) {
      // The write of a Subscription touches the cursor.
      const { text, value } = await this.kept.cursor();
      const isTouched = value !== undefined && text !== this.cursor.text && value.seq === this.cursor.value?.seq;
      this.changed = new Map();
      if (!isTouched) throw new MatcherReplaced();
      this.cursor = { text, value };
      this.index = undefined;
      return false;
    }
    const text = cursor && JSON.stringify(cursor);
    this.cursor = { text, value: cursor };
    this.at = cursor?.seq ?? this.at;
    this.saved = performance.now();
    for (const [id, row] of this.changed) {
      this.news.add(id);
      if (row === undefined) this.rows.delete(id);
      else this.rows.set(id, { text: JSON.stringify(row), value: row });
    }
    this.changed = new Map();
    for (const { id, born } of this.gone.splice(0)) await this.kept.forget(id, { born });
    return true;
  }

  private rowOf(id: string): SubscriptionRow | undefined {
    return this.changed.has(id) ? this.changed.get(id) : this.rows.get(id)?.value;
  }

  private set(id: string, row: SubscriptionRow | undefined): void {
    this.changed.set(id, row);
    this.index = undefined;
  }

  /** Brings the rights of owners and the search parameters up to date. */
  private async refresh(): Promise<void> {
    const { services } = this.parts;
    const { tables } = services();
    if (this.definitions !== tables) {
      this.definitions = tables;
      this.plans.clear();
      this.topics.clear();
      this.index = undefined;
      for (const id of this.rows.keys()) this.news.add(id);
    }
    if (performance.now() - this.indexedAt > RIGHTS) await this.indexed();
  }

  /** The index of what lives, with the rights that owners have now. */
  private async indexed(): Promise<SubscriptionIndex<Live>> {
    const all: Live[] = [];
    const keys: string[] = [];
    const known = new Map<string, Promise<{ kept: Principal; now: Principal | undefined }>>();
    for (const id of new Set([...this.rows.keys(), ...this.changed.keys()])) {
      const row = this.rowOf(id);
      if (row?.isLive !== true) continue;
      const plan = await this.planOf(id, row);
      if (plan === undefined) continue;
      const { granted: _granted, ...who } = row.owner;
      const whose = JSON.stringify(who);
      const access = known.get(whose) ?? this.parts.accessOf(row.owner);
      known.set(whose, access);
      const { kept, now } = await access;
      // Without a right left its events wait, by the scopes that were kept.
      const isNarrowed = now !== undefined && showsTriggers(plan, now);
      const principal = isNarrowed ? now : kept;
      all.push({ id, plan, principal });
      keys.push(`${id} ${row.version} ${principal.scope}`);
    }
    const key = keys.join('\n');
    if (this.index?.key !== key) this.index = { key, of: indexSubscriptions(all) };
    this.indexedAt = performance.now();
    return this.index.of;
  }

  /** Those of the versions that some topic may be about, where they are still current, by their places. */
  private async readCurrent(some: readonly LoggedVersion[]): Promise<readonly (StoredVersion | undefined)[]> {
    const index = this.index?.of ?? (await this.indexed());
    const places = some.flatMap(({ type, interaction }, i) => (index.topics(type, interaction).length > 0 ? [i] : []));
    if (places.length === 0) return [];
    const read = await this.parts.services().store.readMany(places.map((i) => some[i]!));
    const current: (StoredVersion | undefined)[] = [];
    for (const [n, i] of places.entries()) if (read[n]?.version === some[i]!.version) current[i] = read[n];
    return current;
  }

  /** @param current the version, where it was read already */
  private async match(
    entry: LoggedVersion,
    current: StoredVersion | undefined,
    events: MapStep[],
    counted: { events: number; failures: number },
    signal: AbortSignal,
  ): Promise<void> {
    const index = this.index?.of ?? (await this.indexed());
    if (index.topics(entry.type, entry.interaction).length === 0) return;
    const services = this.parts.services();
    const { type, id, version } = entry;
    const stored = current ?? (await services.store.readVersion(type, id, version));
    if (stored === undefined || (type === SUBSCRIPTION && (await this.isOwn(stored, services)))) return;
    const before = entry.interaction === 'create' ? undefined : await services.store.readVersion(type, id, version - 1);
    const change: VersionChange = { interaction: entry.interaction, version: stored, before };
    const { matched, failures } = await matchVersion(change, index, services, signal);
    for (const live of matched) {
      const row = this.rowOf(live.id);
      if (row === undefined) continue;
      const number = row.number + 1;
      const next = { ...row, number };
      this.changed.set(live.id, next);
      events.push(this.kept.eventStep(live.id, next, { ...entry, number }));
    }
    counted.events += matched.length;
    counted.failures += failures.length;
    for (const { topic, text, message } of failures) {
      this.parts.onWarning(`criteria of SubscriptionTopic/${topic.id} failed: ${text.slice(0, 200)}: ${message}`);
    }
  }

  /** Whether the server wrote the version, to say what state the Subscription is in. */
  private async isOwn({ id, version, json }: StoredVersion, services: Services): Promise<boolean> {
    if (version === 1 || json === undefined || this.rowOf(id) === undefined) return false;
    const digest = contentDigest(await readStored(json, services));
    return (await this.kept.owner(id, version, digest)) === undefined;
  }

  private async learnSubscription({ id, version, seq, interaction }: LoggedVersion): Promise<void> {
    const services = this.parts.services();
    const stored = await services.store.readVersion(SUBSCRIPTION, id, version);
    const row = this.rowOf(id);
    if (stored?.json === undefined) {
      if (row === undefined) return;
      this.gone.push({ id, born: row.born });
      this.set(id, undefined);
      return;
    }
    const resource = await readStored(stored.json, services);
    const written = interaction === 'create' ? NEW : version;
    const owner = (await this.kept.owner(id, written, contentDigest(resource))) ?? row?.owner;
    // Without an owner it was written without this engine, which never accepted it.
    if (owner === undefined) return;
    const canonical = String(resource['topic']);
    const topic = row?.topic?.canonical === canonical ? row.topic : await this.chooseTopic(canonical, services);
    this.set(id, {
      born: row?.born ?? seq,
      version,
      ...(topic !== undefined && { topic }),
      owner,
      number: row?.number ?? 0,
      isLive: LIVE.has(resource['status']) && topic !== undefined,
    });
  }

  /** A topic in force is replaced at its place in the log; one that was deleted goes on for those that have it. */
  private async learnTopic({ id, version, interaction }: LoggedVersion): Promise<void> {
    if (interaction === 'delete') return;
    for (const subscription of new Set([...this.rows.keys(), ...this.changed.keys()])) {
      const row = this.rowOf(subscription);
      if (row?.topic?.id !== id) continue;
      if ((await this.topicOf(id, version)) !== undefined)
        this.set(subscription, { ...row, topic: { ...row.topic, version } });
    }
  }

  private async chooseTopic(canonical: string, services: Services): Promise<SubscriptionRow['topic']> {
    const topic = await findTopic(canonical, true, services);
    if (topic === undefined) return undefined;
    const version = Number((topic['meta'] as { versionId?: unknown } | undefined)?.versionId);
    return { canonical, id: String(topic['id']), version };
  }

  private async topicOf(id: string, version: number): Promise<TopicPlan | undefined> {
    const key = `${id}/${version}`;
    if (this.topics.has(key)) return this.topics.get(key);
    const services = this.parts.services();
    const stored = await services.store.readVersion(SUBSCRIPTION_TOPIC, id, version);
    const resource = stored?.json === undefined ? undefined : await readStored(stored.json, services);
    const plan = resource && compileTopic(resource, services).plan;
    this.topics.set(key, plan);
    return plan;
  }

  private async planOf(id: string, { version, topic }: SubscriptionRow): Promise<SubscriptionPlan | undefined> {
    if (topic === undefined) return undefined;
    const key = `${version} ${topic.id} ${topic.version}`;
    const known = this.plans.get(id);
    if (known?.key === key) return known.plan;
    const services = this.parts.services();
    const of = await this.topicOf(topic.id, topic.version);
    const stored = of && (await services.store.readVersion(SUBSCRIPTION, id, version));
    const resource = stored?.json === undefined ? undefined : await readStored(stored.json, services);
    const plan =
      of === undefined || resource === undefined
        ? undefined
        : compileSubscription(resource, of, COMPILING, services).plan;
    if (plan === undefined) {
      this.parts.onWarning(
        `Subscription/${id} cannot be evaluated any more: its topic, or a search parameter, has changed`,
      );
    }
    this.plans.set(id, { key, plan });
    return plan;
  }
}
