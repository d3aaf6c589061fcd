import type { Call, Reply } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import type { Decision } from '../../core/write/commit.js';
import { FhirError } from '../../fhir/errors.js';
import { successOutcome } from '../../fhir/operation-outcome.js';
import { readArguments } from '../../operations/common/arguments.js';
import { commitPlan } from '../../jobs/replacement/commit-plan.js';
import { findDeed, noDeed } from './find-deed.js';
import { MOST_RESTORED, planUndo } from './plan-undo.js';
import type { Activity } from '../../jobs/replacement/provenance.js';
import { isHidden } from '../../jobs/replacement/read-live.js';
import { readPair, type Pair } from './read-pair.js';
import { referenceWalk } from '../../core/references/reference-walk.js';
import { readMergedPair } from './merge-arguments.js';

/**
 * `undo-replace-references`: restores what the last replacement with these two resources changed, all of it or nothing.
 * definitions/operations/undo-replace-references.json
 *
 * @throws FhirError `parameter-invalid`, `scope-missing`, `not-found`, `version-conflict`, `deleted`, `index-not-current`,
 * `transaction-too-large`
 */
export async function undoReplaceReferences(call: Call, services: Services): Promise<Reply> {
  return undo('link', readPair(readArguments(call, services), services), call, services);
}

/**
 * `undo-merge`: restores both resources of the last merge of these two, and what referred to the source; all of it
 * or nothing. definitions/operations/undo-merge.json
 *
 * @throws FhirError `parameter-invalid`, `scope-missing`, `not-found`, `version-conflict`, `deleted`, `index-not-current`
 */
export async function undoMerge(call: Call, services: Services): Promise<Reply> {
  const pair = readMergedPair(call, services);
  if (pair.source.id === pair.target.id) {
    throw new FhirError('parameter-invalid', '"source-patient" and "target-patient" name the same resource');
  }
  return undo('merge', pair, call, services);
}

/** Undoes the last replacement or merge of two resources. */
async function undo(activity: Activity, pair: Pair, call: Call, services: Services): Promise<Reply> {
  const walk = referenceWalk(services.tables);
  const plan = async (signal: AbortSignal | undefined): Promise<Decision<string>> => {
    // Either may be deleted by now; what the token may not learn of is as if nothing were on record.
    for (const key of [pair.source, pair.target]) {
      if (await isHidden(key, call, services)) throw noDeed(activity, pair);
    }
    const deed = await findDeed(activity, pair, services, signal);
    return { changes: await planUndo(deed, walk, call, services, signal), result: deed.record };
  };
  const { result, written } = await commitPlan(plan, [pair.source, pair.target], call, services, MOST_RESTORED).catch(
    (error: unknown) => {
      throw isTooLarge(error) ? new FhirError('transaction-too-large', TOO_LARGE) : error;
    },
  );
  const count = written.length === 1 ? '1 resource was' : `${written.length} resources were`;
  const resource = successOutcome(`${count} restored, as recorded in Provenance/${result}`);
  return { status: 200, resource: { resourceType: 'Parameters', parameter: [{ name: 'outcome', resource }] } };
}

function isTooLarge(error: unknown): boolean {
  return error instanceof FhirError && error.code === 'transaction-too-large';
}

const TOO_LARGE =
  'The resources are more than the database has room for in one transaction, and an undo is one; nothing was restored. ' +
  'MongoDB has room for 2,500 with a cache of 256 MB, for 10,000 with one of 2 GB';
