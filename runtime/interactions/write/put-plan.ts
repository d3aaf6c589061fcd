import type { Resource } from '../../fhir/resource.js';
import type { StoredVersion } from '../../store/store.js';
import { targetOfAim } from './write-target.js';
import type { Aimer } from './target-resolver.js';
import type { Call } from '../../core/call.js';
import { composePut } from '../../core/write/compose-change.js';
import { readLargeVersion } from '../../core/read-stored.js';
import { replyPut, replyThere } from './reply-put.js';
import type { Services } from '../../core/services.js';
import type { WritePlan } from '../../core/write/write-plan.js';

/** A resource that has been checked, and goes wherever `aimer` says. */
export function putPlan(call: Call, aimer: Aimer, resource: Resource, services: Services): WritePlan {
  return {
    ...aimer,
    async decide(aim, content = resource) {
      const target = targetOfAim(aim);
      if (aim.isThere === true) return { changes: [], reply: () => replyThere(call, target) };
      const before = await readLargeVersion(target.current, services);
      const change = await composePut(content, target.id, target.current, services, { before });
      if (change === undefined) return { changes: [], reply: () => replyPut(call, target, undefined) };
      // What was there is not needed any more: the others of a transaction may take long.
      const known = { ...target, current: target.current && withoutBody(target.current) };
      return { changes: [change], reply: ([after]) => replyPut(call, known, after) };
    },
  };
}

function withoutBody(version: StoredVersion): StoredVersion {
  return version.json === undefined ? version : { ...version, json: '' };
}
