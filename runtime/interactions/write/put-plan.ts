import type { Resource } from '../../fhir/resource.js';
import type { StoredVersion } from '../../store/store.js';
import { singleTarget } from './write-target.js';
import type { TargetResolver } from './target-resolver.js';
import type { Call } from '../../core/call.js';
import { composePut } from '../../core/write/compose-change.js';
import { readLargeVersion } from '../../core/read-stored.js';
import { replyPut, replyExisting } from './reply-put.js';
import type { Services } from '../../core/services.js';
import type { WritePlan } from '../../core/write/write-plan.js';

/** A resource that has been checked, and goes wherever `aimer` says. */
export function putPlan(call: Call, aimer: TargetResolver, resource: Resource, services: Services): WritePlan {
  return {
    ...aimer,
    async decide(writeTarget, content = resource) {
      const target = singleTarget(writeTarget);
      if (writeTarget.exists === true) return { changes: [], reply: () => replyExisting(call, target) };
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
