import { FhirError } from '../../fhir/errors.js';
import { commit, type Decision } from '../../core/write/commit.js';
import type { InteractionHandler } from '../../core/services.js';
import type { Change } from '../../store/store.js';
import { storeView } from '../../core/store-view.js';
import { expectedVersions, noteReply, replyAsNoted } from '../../core/write/noted-reply.js';
import type { NotedReply } from '../../core/write/write-ledger.js';
import type { Decided, WritePlanner } from '../../core/write/write-plan.js';

/** Makes an interaction of a write planner: plan, resolve the target, decide, write. Repeats the last three after a conflict. */
export function runPlan(planner: WritePlanner): InteractionHandler {
  return async (call, services) => {
    const { store, limits } = services;
    const { ledger } = call;
    const [noted] = ledger?.noted() ?? [];
    if (noted !== undefined) return replyAsNoted(noted, store);
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
      const { result, written } = await commit(store, plan.keys, decide, {
        answerTime: limits.answerTime,
        steps: ledger && (({ changes, result }) => ledger.steps([noteWrite(result, changes)])),
        whenDone: () => leave?.(),
      });
      if (written.length === 0) await plan.drop?.();
      result.record?.(written);
      return result.reply(written);
    } catch (error) {
      // A failed store may have written the changes, or may still write them. The sweep decides later.
      if (error instanceof FhirError && error.status < 500) await plan.drop?.();
      throw error;
    }
  };
}

function noteWrite(decided: Decided, changes: readonly Change[]): NotedReply {
  const versions = expectedVersions(changes);
  return noteReply(decided.reply(versions), versions);
}
