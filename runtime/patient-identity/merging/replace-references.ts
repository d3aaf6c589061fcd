import type { Call, Reply } from '../../core/call.js';
import { withinBudget } from '../../search-execution/execute/search-budget.js';
import type { Services } from '../../core/services.js';
import type { Decision } from '../../core/write/commit.js';
import { formatInstant } from '../../fhir/instant.js';
import type { JsonObject } from '../../fhir/resource.js';
import { versionPath } from '../../interactions/write/reply-written.js';
import type { StoredVersion } from '../../store/store.js';
import { readArguments, valueOf, type Arguments } from '../../operations/common/arguments.js';
import { jobsOf } from '../../operations/common/jobs.js';
import { commitPlan } from '../../jobs/replacement/commit-plan.js';
import { planReplacement, typesToSearch, type ReplacementBounds } from '../../jobs/replacement/plan-replacement.js';
import type { Deed } from '../../jobs/replacement/provenance.js';
import { readLive } from '../../jobs/replacement/read-live.js';
import { readPair, type Pair } from './read-pair.js';
import { startReplacement } from './start-replacement.js';
import { recordOf, stillThere, versionAfter } from '../../jobs/replacement/record-deed.js';
import { referenceWalk } from '../../core/references/reference-walk.js';

/** Resources that are changed at most where the client does not say. */
const DEFAULT_RESOURCES = 512;

/**
 * `replace-references`: every resource that refers to one resource refers to another from now on. All of them change in one
 * transaction, with a Provenance that records it; with `Prefer: respond-async` a job does it, however many they are.
 * definitions/operations/replace-references.json
 *
 * @throws FhirError `parameter-invalid`, `scope-missing`, `not-found`, `deleted`, `precondition-failed`, `index-not-current`,
 * `operation-unsupported` for a client that does not want to wait where there are no jobs
 */
export async function replaceReferences(call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services);
  const pair = readPair(found, services);
  if (call.prefer.respondAsync === true) return replaceLater(pair, call, services);
  const bounds = boundsOf(found, services);
  const walk = referenceWalk(services.tables);
  const start = Date.now();
  const plan = async (signal: AbortSignal | undefined): Promise<Decision<undefined>> => {
    const { source, target } = await readBoth(pair, call, services);
    const renaming = { from: pair.source, to: pair.target, own: services.own };
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

async function replaceLater(pair: Pair, call: Call, services: Services): Promise<Reply> {
  jobsOf(services);
  await readBoth(pair, call, services);
  const renaming = { from: pair.source, to: pair.target, own: services.own };
  await withinBudget(services.limits.queryTime, call.signal, (signal) =>
    typesToSearch(renaming, referenceWalk(services.tables), call, services, signal),
  );
  return startReplacement({ activity: 'link', ...pair }, call, services);
}

async function readBoth({ source, target }: Pair, call: Call, services: Services) {
  return { source: await readLive(source, call, services), target: await readLive(target, call, services) };
}

/** How much may be changed while the client waits: what it asks for, or the default, and never more than a transaction may. */
function boundsOf(found: Arguments, { limits }: Pick<Services, 'limits'>): ReplacementBounds {
  const asked = Number(valueOf(found, 'resource-limit') ?? DEFAULT_RESOURCES);
  return { resources: Math.min(asked, limits.entries), size: limits.body };
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
