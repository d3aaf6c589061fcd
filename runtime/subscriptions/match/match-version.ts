import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import type { Access } from '../../auth/scopes/access.js';
import { isVisible } from '../../core/access/visibility.js';
import { readStored } from '../../core/read-stored.js';
import { FhirError } from '../../fhir/errors.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import type { StoredVersion } from '../../store/store.js';
import type { MatchOutcome, OwnedSubscription, SearchCriteria, TopicPlan, VersionChange } from '../plan.js';
import { isTooCostly } from '../topic/criteria-path.js';
import { asksOthers, fulfilsCriteria, type MatchServices } from './criteria-test.js';
import { focusOf, type Focus } from './focus.js';
import type { SubscriptionIndex } from './subscription-index.js';
import { triggerFires, type FocusVersions, type VersionContent } from './trigger-test.js';

/**
 * The Subscriptions that get an event by one version: some trigger of the topic fires, all filters hold, and the owner may read the version.
 * Filters are judged on the new version; of a deletion on the one before. https://hl7.org/fhir/R5/subscriptions.html
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
  const run = new MatchRun(version, versions, services, signal);
  const matched: T[] = [];
  const pace = yieldToEventLoop();
  for (const { topic, candidates } of groups) {
    if (!asksOthersInTopic(topic) && !(await run.fires(topic, OPEN_ACCESS))) continue;
    for (const each of candidates(judged.focus)) {
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

/** The judgements of one version: each is made once. */
class MatchRun {
  readonly failures: MatchOutcome<OwnedSubscription>['failures'][number][] = [];
  private readonly verdicts = new Map<Access, Map<unknown, Promise<boolean>>>();

  constructor(
    private readonly version: StoredVersion,
    private readonly versions: FocusVersions,
    private readonly services: MatchServices,
    private readonly signal: AbortSignal | undefined,
  ) {}

  /** Whether a Subscription gets an event. */
  async reaches({ plan, principal }: OwnedSubscription, focus: Focus): Promise<boolean> {
    const { access } = principal;
    const { topic, filters } = plan;
    for (const filter of filters) {
      if (filter.types.has(focus.type) && !(await this.fulfils(filter, focus, access, topic))) return false;
    }
    if (!(await this.fires(topic, asksOthersInTopic(topic) ? access : OPEN_ACCESS))) return false;
    const looking = { principal, ...(this.signal !== undefined && { signal: this.signal }) };
    return this.once(access, 'visible', () => isVisible(this.version, 'rs', looking, this.services));
  }

  /** Whether some trigger of a topic fires. */
  fires(topic: TopicPlan, access: Access): Promise<boolean> {
    return this.once(access, topic, async () => {
      for (const trigger of topic.triggers) {
        const test = (criteria: SearchCriteria, focus: Focus) =>
          fulfilsCriteria(criteria, focus, access, this.services, this.signal);
        const { versions, services } = this;
        const fired = await this.guarded(topic, trigger.path?.text ?? trigger.focus.name, () =>
          triggerFires(trigger, this.version.type, versions, test, services.tables),
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
      if (!(error instanceof FhirError && error.status < 500) && !isTooCostly(error)) throw error;
      this.failures.push({ topic, text, message: error.message });
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
