import type { Resource } from '../../fhir/resource.js';
import type { StoredVersion } from '../../store/store.js';
import { singleTarget } from './write-target.js';
import type { TargetResolver } from './target-resolver.js';
import type { Call } from '../../core/call.js';
import { composePut } from '../../core/write/compose-change.js';
import { readLargeVersion } from '../../core/read-stored.js';
import { replyPut, replyExisting } from './reply-put.js';
import type { Services } from '../../core/services.js';
import { contentToStore } from '../../core/write/content-to-store.js';
import type { WritePlan } from '../../core/write/write-plan.js';

/** Plans the write of a checked resource to the target that `resolver` finds. */
export function putPlan(call: Call, resolver: TargetResolver, resource: Resource, services: Services): WritePlan {
  return {
    ...resolver,
    async decide(writeTarget, content = resource) {
      const target = singleTarget(writeTarget);
      if (writeTarget.exists === true) return { changes: [], reply: () => replyExisting(call, target) };
      const before = await readLargeVersion(target.current, services);
      const checked = await contentToStore(content, target, call, services);
      const change = await composePut(checked, target.id, target.current, services, { before });
      if (change === undefined) return { changes: [], reply: () => replyPut(call, target, undefined) };
      // The old content is no longer needed. Dropped, because the other entries of a transaction may take long.
      const known = { ...target, current: target.current && withoutBody(target.current) };
      return { changes: [change], reply: ([after]) => replyPut(call, known, after) };
    },
  };
}

function withoutBody(version: StoredVersion): StoredVersion {
  return version.json === undefined ? version : { ...version, json: '' };
}
