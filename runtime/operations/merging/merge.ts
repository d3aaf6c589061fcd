import type { Call, Reply } from '../../core/call.js';
import { readStored } from '../../core/read-stored.js';
import { withinBudget } from '../../core/search/execute/search-budget.js';
import type { Services } from '../../core/services.js';
import type { Decision } from '../../core/write/commit.js';
import { validateWritten } from '../../core/write/validate-written.js';
import { FhirError } from '../../fhir/errors.js';
import type { JsonObject, Resource } from '../../fhir/resource.js';
import type { Put } from '../../store/store.js';
import { commitPlan } from './commit-plan.js';
import { checkIdentifiers, findNamed, readMergeArguments, type MergeArguments } from './merge-arguments.js';
import { checkMergeable, checkResult, mergedSource, mergedTarget, resultFor } from './merged-content.js';
import { changeOf, planReplacement } from './plan-replacement.js';
import type { Deed } from './provenance.js';
import { readLive } from './read-pair.js';
import { recordOf, versionAfter } from './record-deed.js';
import { referenceWalk } from './reference-walk.js';

/** What a merge changes: the two resources themselves, and what refers to the source. */
interface MergePlan {
  readonly target: Put;
  readonly source: Put;
  readonly referrers: readonly Put[];
}

/**
 * `Patient/$merge`: the target takes over what refers to the source, and its identifiers; the source stays, inactive and with a link
 * to the target. All of it in one transaction, with a Provenance that records it.
 * https://hl7.org/fhir/R5/patient-operation-merge.html
 *
 * @throws FhirError `parameter-invalid`, `scope-missing`, `not-found`, `deleted`, `merge-refused`, `precondition-failed` beyond the
 * limit, `index-not-current`
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
    return reply(call, previewOutcome(referrers.length), target.content);
  }
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
  return reply(call, outcome(`Merged; references of ${resources(written.length - 3)} were replaced`), await readStored(target.json, services)); // prettier-ignore
}

async function planMerge(
  asked: MergeArguments,
  call: Call,
  services: Services,
  signal: AbortSignal | undefined,
): Promise<MergePlan> {
  const { base } = call;
  const { limits } = services;
  const from = await findNamed(asked.source, call, services, signal);
  const to = await findNamed(asked.target, call, services, signal);
  if (from.id === to.id) throw new FhirError('merge-refused', 'Source and target are the same resource');
  const source = await readLive(from, call, services);
  const target = await readLive(to, call, services);
  const before = { source: await readStored(source.json, services), target: await readStored(target.json, services) };
  checkIdentifiers(asked.source, before.source);
  checkIdentifiers(asked.target, before.target);
  checkMergeable(before.source, before.target);
  if (asked.result !== undefined) {
    checkResult(asked.result, { source: from, target: to, identifiers: asked.target.identifiers }, base);
  }
  const result =
    asked.result === undefined
      ? mergedTarget(before.target, before.source, from, base)
      : resultFor(asked.result, before.target);
  const changes = {
    target: await changeOf(target, result, call, services),
    source: await changeOf(source, mergedSource(before.source, to), call, services),
  };
  const bounds = { resources: limits.entries, size: limits.body };
  const renaming = { from, to, base };
  const walk = referenceWalk(services.tables);
  return { ...changes, referrers: await planReplacement(renaming, walk, bounds, call, services, signal) };
}

function reply({ body }: Call, issue: JsonObject, result: Resource): Reply {
  const parameter = [
    { name: 'input', resource: body as JsonObject },
    { name: 'outcome', resource: { resourceType: 'OperationOutcome', issue: [issue] } },
    { name: 'result', resource: result },
  ];
  return { status: 200, resource: { resourceType: 'Parameters', parameter } };
}

function outcome(text: string): JsonObject {
  return { severity: 'information', code: 'informational', details: { text } };
}

function previewOutcome(referrers: number): JsonObject {
  return {
    ...outcome('Preview only; nothing was merged, and nothing prevents the merge'),
    diagnostics: `The merge would change ${resources(referrers)} that refer to the source, and the two resources themselves`,
  };
}

function resources(count: number): string {
  return count === 1 ? '1 resource' : `${count} resources`;
}
