import type { WriteTarget } from '../../core/write/write-plan.js';
import { Phase } from './entry.js';
import type { CachingView } from './drafts/caching-view.js';
import type { Step } from './steps.js';

/** The target of a step with the body that its decision needs. A body that was not kept in memory is read again. */
export async function wholeTarget(
  { step, writeTarget }: { readonly step: Step; readonly writeTarget: WriteTarget },
  view: Pick<CachingView, 'whole'>,
): Promise<WriteTarget> {
  const { entry, call } = step;
  if (entry.phase === Phase.Delete) return writeTarget;
  // Nothing is written, and the body is returned only if the client prefers so.
  if (writeTarget.exists === true && call.prefer.return !== 'representation') return writeTarget;
  const [target] = writeTarget.targets;
  if (target?.current === undefined) return writeTarget;
  const current = await view.whole(target.current);
  return current === target.current ? writeTarget : { ...writeTarget, targets: [{ ...target, current }] };
}
