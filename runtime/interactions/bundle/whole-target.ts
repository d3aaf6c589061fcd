import type { Aim } from '../../core/write/write-plan.js';
import { Phase } from './entry.js';
import type { MemoView } from './drafts/caching-view.js';
import type { Step } from './steps.js';

/** Where a step goes, with the bodies that are needed to decide it; those that were left out are read again. */
export async function wholeAim(
  { step, aim }: { readonly step: Step; readonly aim: Aim },
  view: Pick<MemoView, 'whole'>,
): Promise<Aim> {
  const { entry, call } = step;
  if (entry.phase === Phase.Delete) return aim;
  // Nothing is written then, and the body is shown only to who wants it.
  if (aim.isThere === true && call.prefer.return !== 'representation') return aim;
  const [target] = aim.targets;
  if (target?.current === undefined) return aim;
  const current = await view.whole(target.current);
  return current === target.current ? aim : { ...aim, targets: [{ ...target, current }] };
}
