import { issueText } from '../../fhir/operation-outcome.js';
import type { Call, Reply } from '../../core/call.js';
import { readStored } from '../../core/read-stored.js';
import { withinBudget } from '../../search-execution/execute/search-budget.js';
import type { Services } from '../../core/services.js';
import type { Decision } from '../../core/write/commit.js';
import { validateWritten } from '../../core/write/validate-written.js';
import type { JsonObject, Resource } from '../../fhir/resource.js';
import { writeJson } from '../../format/write-json.js';
import { commitPlan } from '../../jobs/replacement/commit-plan.js';
import { checkResult } from '../../jobs/replacement/merged-content.js';
import { planSides, type ChangedSides } from '../../jobs/replacement/plan-merge.js';
import { planReplacement, typesToSearch } from '../../jobs/replacement/plan-replacement.js';
import type { Deed } from '../../jobs/replacement/provenance.js';
import { recordOf, versionAfter } from '../../jobs/replacement/record-deed.js';
import { referenceWalk } from '../../core/references/reference-walk.js';
import type { Put, ResourceKey } from '../../store/store.js';
import { jobsOf } from '../../operations/common/jobs.js';
import { checkIdentifiers, findNamed, readMergeArguments, type MergeArguments } from './merge-arguments.js';
import { startReplacement } from './start-replacement.js';

/** What a merge changes: the two resources themselves, and what refers to the source. */
interface MergePlan extends ChangedSides {
  readonly referrers: readonly Put[];
}

/**
 * `Patient/$merge`: the target takes over what refers to the source, and its identifiers; the source stays, inactive and with a link
 * to the target. All of it in one transaction, with a Provenance that records it; with `Prefer: respond-async` a job does it, however
 * much refers to the source. https://hl7.org/fhir/R5/patient-operation-merge.html
 *
 * @throws FhirError `parameter-invalid`, `scope-missing`, `not-found`, `deleted`, `merge-refused`, `precondition-failed` beyond the
 * limit, `index-not-current`, `operation-unsupported` for a client that does not want to wait where there are no jobs
 */
export async function merge(call: Call, services: Services): Promise<Reply> {
  const asked = readMergeArguments(call, services);
  if (asked.result !== undefined) {
    // Without the text of the call: lines in it are those of the Parameters.
    const { principal, signal } = call;
    await validateWritten(asked.result, { principal, ...(signal !== undefined && { signal }) }, services);
  }
  if (asked.isPreview) {
    const { target, referrers } = await withinBudget(services.limits.queryTime, call.signal, (signal) =>
      planMerge(asked, call, services, signal),
    );
    return { status: 200, resource: parametersOf(call, previewIssue(referrers.length), target.content) };
  }
  if (call.prefer.respondAsync === true) return mergeLater(asked, call, services);
  const start = Date.now();
  const plan = async (signal: AbortSignal | undefined): Promise<Decision<undefined>> => {
    const { target, source, referrers } = await planMerge(asked, call, services, signal);
    const deed: Deed = {
      activity: 'merge',
      source: versionAfter(source),
      target: versionAfter(target),
      changed: referrers.map(versionAfter),
    };
    const record = await recordOf(deed, start, call, services);
    return { changes: [target, source, ...referrers, record], result: undefined };
  };
  const { written } = await commitPlan(plan, [], call, services);
  const [target] = written;
  if (target?.json === undefined) throw new Error('a merge without a target');
  const text = `Merged; ${resources(written.length - 3)} that referred to the source refer to the target now`;
  return { status: 200, resource: parametersOf(call, issueOf(text), await readStored(target.json, services)) };
}

async function mergeLater(asked: MergeArguments, call: Call, services: Services): Promise<Reply> {
  jobsOf(services);
  const pair = await withinBudget(services.limits.queryTime, call.signal, async (signal) => {
    const [source, target] = [await findNamed(asked.source, call, services, signal), await findNamed(asked.target, call, services, signal)]; // prettier-ignore
    await planAsked(asked, { source, target }, call, services);
    const renaming = { from: source, to: target, own: services.own };
    await typesToSearch(renaming, referenceWalk(services.tables), call, services, signal);
    return { source, target };
  });
  const result = asked.result === undefined ? {} : { result: writeJson(asked.result) };
  const text = 'The merge is accepted; its Task shows when it is done';
  const { parameter } = parametersOf(call, issueOf(text));
  return startReplacement({ activity: 'merge', ...pair, ...result }, call, services, parameter);
}

async function planMerge(
  asked: MergeArguments,
  call: Call,
  services: Services,
  signal: AbortSignal | undefined,
): Promise<MergePlan> {
  const { limits } = services;
  const source = await findNamed(asked.source, call, services, signal);
  const target = await findNamed(asked.target, call, services, signal);
  const sides = await planAsked(asked, { source, target }, call, services);
  const bounds = { resources: limits.entries, size: limits.body };
  const renaming = { from: source, to: target, own: services.own };
  const walk = referenceWalk(services.tables);
  return { ...sides, referrers: await planReplacement(renaming, walk, bounds, call, services, signal) };
}

/** Plans what is asked of the two resources themselves. */
function planAsked(
  asked: MergeArguments,
  pair: { readonly source: ResourceKey; readonly target: ResourceKey },
  call: Call,
  services: Services,
): Promise<ChangedSides> {
  const { result } = asked;
  return planSides({ ...pair, result }, call, services, (source, target) => {
    checkIdentifiers(asked.source, source);
    checkIdentifiers(asked.target, target);
    if (result !== undefined) checkResult(result, { ...pair, identifiers: asked.target.identifiers }, services.own);
  });
}

function parametersOf({ body }: Call, issue: JsonObject, result?: Resource) {
  const parameter: JsonObject[] = [
    { name: 'input', resource: body as JsonObject },
    { name: 'outcome', resource: { resourceType: 'OperationOutcome', issue: [issue] } },
    ...(result === undefined ? [] : [{ name: 'result', resource: result }]),
  ];
  return { resourceType: 'Parameters', parameter };
}

function issueOf(text: string): JsonObject {
  return { severity: 'information', code: 'informational', ...issueText(text) };
}

function previewIssue(referrers: number): JsonObject {
  const changed = `${resources(referrers)} that refer to the source, and the two resources themselves`;
  return issueOf(`Preview only; nothing was merged, and nothing prevents the merge, which would change ${changed}`);
}

function resources(count: number): string {
  return count === 1 ? '1 resource' : `${count} resources`;
}
