import type { Resource } from '../../fhir/resource.js';
import type { SearchCriteria, TriggerInteraction, TriggerPlan } from '../plan.js';
import { pathHolds } from '../topic/criteria-path.js';
import type { Services } from '../../core/services.js';
import type { Focus } from './focus.js';

/** The two versions that a trigger compares. */
export interface FocusVersions {
  readonly interaction: TriggerInteraction;
  /** Time of the event: milliseconds since the epoch. */
  readonly time: number;
  /** Absent: the version is a deletion. */
  readonly current?: VersionContent | undefined;
  /** Absent: nothing was current. */
  readonly previous?: VersionContent | undefined;
}

/** One version. */
export interface VersionContent {
  readonly resource: Resource;
  readonly focus: Focus;
}

/** Whether a version fulfils search criteria. */
export type CriteriaTest = (criteria: SearchCriteria, focus: Focus) => Promise<boolean>;

/**
 * Whether a trigger fires: its interactions, its search criteria and its FHIRPath criteria all have to hold.
 *
 * @throws CriteriaFault, and what `test` throws
 */
export async function triggerFires(
  { focus, interactions, query, path }: TriggerPlan,
  type: string,
  versions: FocusVersions,
  test: CriteriaTest,
  tables: Pick<Services['tables'], 'types' | 'primitives'>,
): Promise<boolean> {
  if (!focus.types.has(type) || !interactions.has(versions.interaction)) return false;
  if (path !== undefined) {
    const { time, current, previous } = versions;
    const content = { current: current?.resource, previous: previous?.resource, time };
    if (!pathHolds(path.evaluate, content, tables)) return false;
  }
  return query === undefined || queryHolds(query, versions, test);
}

/**
 * The truth of `queryCriteria`. A test that cannot be made, and has no prescribed result, takes no part; if nothing is left, the trigger
 * does not fire. https://hl7.org/fhir/R5/subscriptiontopic-definitions.html#SubscriptionTopic.resourceTrigger.queryCriteria
 */
async function queryHolds(
  { previous, current, resultForCreate, resultForDelete, requireBoth }: NonNullable<TriggerPlan['query']>,
  versions: FocusVersions,
  test: CriteriaTest,
): Promise<boolean> {
  const judge = async (
    criteria: SearchCriteria | undefined,
    version: VersionContent | undefined,
    prescribed: boolean | undefined,
  ): Promise<boolean | undefined> => {
    if (criteria === undefined) return undefined;
    return version === undefined ? prescribed : test(criteria, version.focus);
  };
  const { interaction } = versions;
  const before = await judge(previous, versions.previous, interaction === 'create' ? resultForCreate : undefined);
  // One result decides alone: the first that fails where both are needed, the first that holds otherwise.
  if (before === !requireBoth) return before;
  const after = await judge(current, versions.current, interaction === 'delete' ? resultForDelete : undefined);
  return after ?? before ?? false;
}
