import type { Call, Reply } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import type { Decision } from '../../core/write/commit.js';
import { FhirError } from '../../fhir/errors.js';
import { formatInstant } from '../../fhir/instant.js';
import type { JsonObject } from '../../fhir/resource.js';
import { versionPath } from '../../interactions/write/reply-written.js';
import type { StoredVersion } from '../../store/store.js';
import { readArguments, valueOf, type Arguments } from '../arguments.js';
import { commitPlan } from './commit-plan.js';
import { planReplacement, type ReplacementBounds } from './plan-replacement.js';
import type { Deed, VersionKey } from './provenance.js';
import { readLive, readPair } from './read-pair.js';
import { recordOf, versionAfter } from './record-deed.js';
import { referenceWalk } from './reference-walk.js';

/** Resources that are changed at most where the client does not say. */
const DEFAULT_RESOURCES = 512;

/**
 * `$svc.fhir.replace-references`: every resource that refers to one resource refers to another from now on. All of them change in one
 * transaction, with a Provenance that records it. definitions/operations/replace-references.json
 *
 * @throws FhirError `parameter-invalid`, `scope-missing`, `not-found`, `deleted`, `precondition-failed`, `index-not-current`,
 * `operation-unsupported` for a client that does not want to wait
 */
export async function replaceReferences(call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services);
  const pair = readPair(found, call, services);
  if (call.prefer.respondAsync === true) throw noJob();
  const bounds = boundsOf(found, services);
  const walk = referenceWalk(services.tables);
  const start = Date.now();
  const plan = async (signal: AbortSignal | undefined): Promise<Decision<undefined>> => {
    const source = await readLive(pair.source, call, services);
    const target = await readLive(pair.target, call, services);
    const renaming = { from: pair.source, to: pair.target, base: call.base };
    const changes = await planReplacement(renaming, walk, bounds, call, services, signal);
    if (changes.length === 0) return { changes, result: undefined };
    const deed: Deed = { activity: 'link', source, target, changed: changes.map(versionAfter) };
    const record = await recordOf(deed, start, call, services);
    return { changes: [...changes, record], preconditions: [stillThere(target)], result: undefined };
  };
  const { written } = await commitPlan(plan, [pair.source, pair.target], call, services);
  const changed = written.slice(0, -1);
  return { status: 200, resource: { resourceType: 'Parameters', parameter: [{ name: 'outcome', resource: bundleOf(changed) }] } }; // prettier-ignore
}

/** Refuses a client that does not want to wait, before anything is looked up. */
function noJob(): FhirError {
  const text = 'References are replaced while the client waits; send the request without Prefer: respond-async';
  return new FhirError('operation-unsupported', text);
}

/** How much may be changed while the client waits: what it asks for, or the default, and never more than a transaction may. */
function boundsOf(found: Arguments, { limits }: Pick<Services, 'limits'>): ReplacementBounds {
  const asked = Number(valueOf(found, 'resource-limit') ?? DEFAULT_RESOURCES);
  return { resources: Math.min(asked, limits.entries), size: limits.body };
}

/** A resource is there when the changes are written. */
function stillThere({ type, id }: VersionKey) {
  return { type, where: { ids: [id] }, found: [id] };
}

/** What was changed, as a transaction answers. https://hl7.org/fhir/R5/http.html#transaction-response */
function bundleOf(written: readonly StoredVersion[]): JsonObject {
  const entry = written.map((version) => ({
    response: {
      status: '200 OK',
      location: versionPath(version),
      etag: `W/"${version.version}"`,
      lastModified: formatInstant(version.lastUpdated),
    },
  }));
  return { resourceType: 'Bundle', type: 'transaction-response', ...(entry.length > 0 && { entry }) };
}
