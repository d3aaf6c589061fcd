import type { Call } from '../../core/call.js';
import { withinBudget } from '../../search-execution/execute/search-budget.js';
import type { Services } from '../../core/services.js';
import { commit, type Committed, type Decision } from '../../core/write/commit.js';
import type { ResourceKey } from '../../store/store.js';
import { moreTime } from '../../store/write-time.js';

/**
 * Plans changes and writes them, all or none. It is planned before the commit, so that the commit waits for earlier writes on the
 * same resources; the plan is made again when another writer came first.
 *
 * @param keys resources that the plan depends on besides those that it changes
 * @param most changes that it may have, where these are more than a search finds: it has more time then
 * @throws FhirError as `plan`, and as `commit`
 */
export async function commitPlan<T>(
  plan: (signal: AbortSignal | undefined) => Promise<Decision<T>>,
  keys: readonly ResourceKey[],
  call: Call,
  { store, limits }: Pick<Services, 'store' | 'limits'>,
  most = 0,
): Promise<Committed<T>> {
  const time = limits.queryTime === undefined ? undefined : limits.queryTime + moreTime(most);
  const planInTime = (signal: AbortSignal | undefined): Promise<Decision<T>> => withinBudget(time, signal, plan);
  let planned: Decision<T> | undefined = await planInTime(call.signal);
  const { changes } = planned;
  const names = [...keys, ...changes].map(({ type, id }) => `${type}/${id}`);
  const decide = async (signal: AbortSignal): Promise<Decision<T>> => {
    const first = planned;
    planned = undefined;
    return first ?? planInTime(signal);
  };
  return commit(store, [...new Set(names)], decide, {
    changes: changes.length,
    answerTime: limits.answerTime,
    signal: call.signal,
  });
}
