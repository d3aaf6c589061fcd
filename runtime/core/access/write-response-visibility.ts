import { isWithinReach } from '../../auth/access/visible.js';
import { isObject, type Resource } from '../../fhir/resource.js';
import type { Change } from '../../store/store.js';
import { BINARY } from '../binary/binary-content.js';
import type { Call, Reply } from '../call.js';
import { liveVersion } from '../write/preconditions.js';
import { readStored } from '../read-stored.js';
import { isContextVisible } from './security-context.js';
import type { Services } from '../services.js';
import { isVisible } from './visibility.js';
import type { WriteTarget } from '../write/write-plan.js';

/**
 * Whether the answer to a write may show the resource. Who may not read it is shown what it sent, and nothing else: not what
 * a patch makes, nor tags that an update leaves as they were.
 *
 * @param change absent: what is there stays as it is
 * @param sent in the place of the call's body
 */
export async function mayReturnWritten(
  change: Change | undefined,
  { targets: [target] }: WriteTarget,
  sent: Resource | undefined,
  call: Call,
  services: Services,
): Promise<boolean> {
  const wanted = call.prefer.return ?? 'representation';
  if (wanted !== 'representation') return true;
  const live = liveVersion(target?.current);
  if (change !== undefined && change.content === undefined) return true;
  if (change === undefined && live === undefined) return true;
  if (call.patch === undefined) {
    const own = sent ?? (call.body as Resource | undefined);
    // What was there before is all that could come in addition.
    if (live === undefined) return true;
    const shown = change?.content ?? (await readStored(live.json, services));
    if (countTags(shown) === (own === undefined ? 0 : countTags(own))) return true;
  }
  if (change === undefined) return live === undefined || isVisible(live, 'r', call, services);
  const { type, id, entries, content } = change;
  const candidate = { id, lastUpdated: Date.now(), entries };
  if (!isWithinReach(call.principal.access.on(type, 'r'), () => candidate)) return false;
  return type !== BINARY || isContextVisible(content, call, services);
}

/** The answer as `Prefer: return=minimal` has it; an outcome stays. */
export function withoutContent({ json: _json, content: _content, around: _around, ...head }: Reply): Reply {
  return head;
}

function countTags({ meta }: Resource): number {
  const { tag, security } = isObject(meta) ? meta : {};
  return (Array.isArray(tag) ? tag.length : 0) + (Array.isArray(security) ? security.length : 0);
}
