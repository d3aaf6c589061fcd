import { FhirError } from '../../fhir/errors.js';
import { commit, type Decision } from '../../core/write/commit.js';
import type { InteractionHandler } from '../../core/services.js';
import { storeView } from '../../core/store-view.js';
import type { Decided, WritePlanner } from '../../core/write/write-plan.js';

/** The interaction that a planner of writes makes: plan, writeTarget, decide, write; the latter three until nobody interferes. */
export function runPlan(planner: WritePlanner): InteractionHandler {
  return async (call, services) => {
    const { store } = services;
    const plan = await planner(call, services);
    const view = storeView(store);
    let leave: (() => void) | undefined;
    const decide = async (signal: AbortSignal): Promise<Decision<Decided>> => {
      const writeTarget = await plan.resolveTarget(view);
      const weight = plan.weight?.(writeTarget) ?? 0;
      if (weight > 0) leave ??= await services.largeTexts?.enter(weight, signal);
      const decided = await plan.decide(writeTarget);
      return { changes: decided.changes, preconditions: writeTarget.preconditions, result: decided };
    };
    try {
      const { result, written } = await commit(store, plan.keys, decide, { whenDone: () => leave?.() });
      if (written.length === 0) await plan.drop?.();
      return result.reply(written);
    } catch (error) {
      // A store that failed may have written all the same, or be about to. The sweep finds out.
      if (error instanceof FhirError && error.status < 500) await plan.drop?.();
      throw error;
    }
  };
}
