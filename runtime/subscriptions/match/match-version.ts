import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import type { Access } from '../../auth/scopes/access.js';
import { isVisible } from '../../core/access/visibility.js';
import { readStored } from '../../core/read-stored.js';
import { FhirError } from '../../fhir/errors.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import type { StoredVersion } from '../../store/store.js';
import type { MatchOutcome, OwnedSubscription, SearchCriteria, TopicPlan, VersionChange } from '../plan.js';
import { CriteriaFault } from '../topic/criteria-path.js';
import { asksOthers, fulfilsCriteria, type MatchServices } from './criteria-test.js';
import { focusOf, type Focus } from './focus.js';
import type { SubscriptionIndex, TopicGroup } from './subscription-index.js';
import { triggerFires, type FocusVersions, type VersionContent } from './trigger-test.js';

/**
 * The Subscriptions that get an event by one version: some trigger of the topic fires, all filters hold, and the owner may read the version.
 * Filters are judged on the new version; of a deletion on the one before. A version before that the owner may not read counts as not given. https://hl7.org/fhir/R5/subscriptions.html
 *
 * @throws Error where the store fails: then nothing is known of the version. What fails by the criteria themselves is in `failures`.
 */
export async function matchVersion<T extends OwnedSubscription>(
  change: VersionChange,
  index: SubscriptionIndex<T>,
  services: MatchServices,
  signal?: AbortSignal,
): Promise<MatchOutcome<T>> {
  const { version, interaction } = change;
  const groups = index.topics(version.type, interaction);
  if (groups.length === 0) return { matched: [], failures: [] };
  const versions = await readVersions(change, services);
  const judged = versions.current ?? versions.previous;
  if (judged === undefined) return { matched: [], failures: [] };
  const run = new MatchRun(change, versions, services, signal);
  const matched: T[] = [];
  const pace = yieldToEventLoop();
  for (const group of groups) {
    const { topic } = group;
    if (!asksOthersInTopic(topic) && !(await run.mayFire(group))) continue;
    for (const each of group.candidates(judged.focus)) {
      await pace();
      if (await run.reaches(each, judged.focus)) matched.push(each);
    }
  }
  return { matched, failures: run.failures };
}

async function readVersions({ interaction, version, before }: VersionChange, services: MatchServices) {
  const read = async (each: StoredVersion | undefined): Promise<VersionContent | undefined> => {
    if (each?.json === undefined) return undefined;
    const resource = await readStored(each.json, services);
    return { resource, focus: focusOf(each, resource, services) };
  };
  const versions: FocusVersions = {
    ...{ interaction, time: version.lastUpdated },
    current: await read(version),
    previous: await read(before),
  };
  return versions;
}

/** Whether what fires a topic depends on what the owner of a Subscription may search. */
function asksOthersInTopic({ triggers }: TopicPlan): boolean {
  return triggers.some(({ query }) =>
    [query?.previous, query?.current].some((each) => each !== undefined && asksOthers(each)),
  );
}

/** Whether what fires a topic depends on the version before. */
function looksBack({ triggers }: TopicPlan): boolean {
  return triggers.some(({ query, path }) => query?.previous !== undefined || path?.text.includes('%') === true);
}

/** The judgements of one version: each is made once. */
class MatchRun {
  readonly failures: MatchOutcome<OwnedSubscription>['failures'][number][] = [];
  private readonly pace = yieldToEventLoop();
  /** The versions as owners see them who may not read the one before. */
  private readonly alone: FocusVersions;
  private readonly verdicts = new Map<Access, Map<unknown, Promise<boolean>>>();

  constructor(
    private readonly change: VersionChange,
    private readonly versions: FocusVersions,
    private readonly services: MatchServices,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.alone = { ...versions, previous: undefined };
  }

  /** Whether a Subscription gets an event. */
  async reaches({ plan, principal }: OwnedSubscription, focus: Focus): Promise<boolean> {
    const { access } = principal;
    const { topic, filters } = plan;
    for (const filter of filters) {
      if (filter.types.has(focus.type) && !(await this.fulfils(filter, focus, access, topic))) return false;
    }
    const { version, before } = this.change;
    const sees = (which: 'version' | 'before', of: StoredVersion): Promise<boolean> => {
      const looking = { principal, ...(this.signal !== undefined && { signal: this.signal }) };
      return this.once(access, which, () => isVisible(of, 'rs', looking, this.services));
    };
    const isAlone = this.comparesIn(topic) && before !== undefined && !(await sees('before', before));
    if (!(await this.fires(topic, asksOthersInTopic(topic) ? access : OPEN_ACCESS, isAlone))) return false;
    return sees('version', version);
  }

  /** Whether a topic may fire for some owner: those who may not read the version before see another change. */
  async mayFire<T extends OwnedSubscription>({ topic, hides }: TopicGroup<T>): Promise<boolean> {
    if (await this.fires(topic, OPEN_ACCESS)) return true;
    return this.comparesIn(topic) && hides(this.change.version.type) && this.fires(topic, OPEN_ACCESS, true);
  }

  /** Whether what a topic says of an update depends on the version before; a deletion is seen by who may read that. */
  private comparesIn(topic: TopicPlan): boolean {
    return this.change.interaction === 'update' && this.versions.previous !== undefined && looksBack(topic);
  }

  /** Whether some trigger of a topic fires. @param isAlone whether the version before counts as not given */
  private fires(topic: TopicPlan, access: Access, isAlone = false): Promise<boolean> {
    const versions = isAlone ? this.alone : this.versions;
    return this.once(access, isAlone ? topic.triggers : topic, async () => {
      for (const trigger of topic.triggers) {
        const test = (criteria: SearchCriteria, focus: Focus) =>
          fulfilsCriteria(criteria, focus, access, this.services, this.signal);
        await this.pace();
        const { tables } = this.services;
        const fired = await this.guarded(topic, trigger.path?.text ?? trigger.focus.name, () =>
          triggerFires(trigger, this.change.version.type, versions, test, tables),
        );
        if (fired) return true;
      }
      return false;
    });
  }

  private fulfils(filter: SearchCriteria, focus: Focus, owner: Access, topic: TopicPlan): Promise<boolean> {
    const access = asksOthers(filter) ? owner : OPEN_ACCESS;
    return this.once(access, `filter ${filter.text}`, () =>
      this.guarded(topic, filter.text, () => fulfilsCriteria(filter, focus, access, this.services, this.signal)),
    );
  }

  /** What fails by the criteria fires nothing, and is reported. */
  private async guarded(topic: TopicPlan, text: string, judge: () => Promise<boolean>): Promise<boolean> {
    try {
      return await judge();
    } catch (error) {
      if (!isOfCriteria(error)) throw error;
      const isKnown = this.failures.some((each) => each.topic === topic && each.text === text);
      if (!isKnown) this.failures.push({ topic, text, message: error.message });
      return false;
    }
  }

  private once(access: Access, key: unknown, judge: () => Promise<boolean>): Promise<boolean> {
    const known = this.verdicts.get(access) ?? new Map<unknown, Promise<boolean>>();
    this.verdicts.set(access, known);
    let verdict = known.get(key);
    if (verdict === undefined) known.set(key, (verdict = judge()));
    return verdict;
  }
}

/** Whether criteria have failed by what they ask for; otherwise the store does not work, which may be over soon. */
function isOfCriteria(error: unknown): error is Error {
  if (error instanceof CriteriaFault) return true;
  return error instanceof FhirError && (error.status < 500 || error.code === 'too-costly');
}
