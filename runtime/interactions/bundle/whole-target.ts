import type { WriteTarget } from '../../core/write/write-plan.js';
import { Phase } from './entry.js';
import type { CachingView } from './drafts/caching-view.js';
import type { Step } from './steps.js';

/** Where a step goes, with the bodies that are needed to decide it; those that were left out are read again. */
export async function wholeTarget(
  { step, writeTarget }: { readonly step: Step; readonly writeTarget: WriteTarget },
  view: Pick<CachingView, 'whole'>,
): Promise<WriteTarget> {
  const { entry, call } = step;
  if (entry.phase === Phase.Delete) return writeTarget;
  // Nothing is written then, and the body is shown only to who wants it.
  if (writeTarget.exists === true && call.prefer.return !== 'representation') return writeTarget;
  const [target] = writeTarget.targets;
  if (target?.current === undefined) return writeTarget;
  const current = await view.whole(target.current);
  return current === target.current ? writeTarget : { ...writeTarget, targets: [{ ...target, current }] };
}
