import { successOutcome } from '../../fhir/operation-outcome.js';
import { expecting, type Deletion, type StoredVersion } from '../../store/store.js';
import { MAX_DELETED, several } from './write-target.js';
import { criteriaOf, updateResolver } from './target-resolver.js';
import type { Call, Reply } from '../../core/call.js';
import { matchCriteria, type Criteria } from '../../search-execution/criteria.js';
import { checkParameters } from '../../core/parameters.js';
import { checkWrite, liveVersion } from '../../core/write/preconditions.js';
import type { Services } from '../../core/services.js';
import { openUnreferred } from '../../core/references/unreferred.js';
import { targetOf } from '../../core/target.js';
import type { WriteTarget, Decided, WritePlanner, WriteView } from '../../core/write/write-plan.js';

/**
 * `DELETE [base]/[type]/[id]`: a logical deletion, which keeps past versions. Succeeds for a resource that is deleted
 * already or never existed; the outcome says so, unless the client prefers `return=minimal`.
 * https://hl7.org/fhir/R5/http.html#delete
 */
export const planDelete: WritePlanner = async (call, services) => {
  checkParameters(call);
  const { type, id } = targetOf(call);
  const deletable = openDeletable(call, services);
  return {
    ...updateResolver(call),
    decide: async (writeTarget) =>
      decide(call, deletable, writeTarget, ([target]) =>
        target?.current === undefined ? `There never was a ${type}/${id}` : `${type}/${id} was deleted already`,
      ),
  };
};

/**
 * `DELETE [base]/[type]?…`: deletes the resource that matches the criteria. Deletes several only if the configuration
 * allows it (`delete.multiple`), in one commit. https://hl7.org/fhir/R5/http.html#cdelete
 */
export const planConditionalDelete: WritePlanner = async (call, services) => {
  const criteria = await criteriaOf(call, services);
  const deletable = openDeletable(call, services);
  return {
    keys: [criteria.key],
    resolveTarget: (view) => resolveAll(call, criteria, view, services),
    decide: async (writeTarget) =>
      decide(call, deletable, writeTarget, () => `Nothing is deleted: no resource fulfils ${shown(criteria)}`),
  };
};

async function resolveAll(
  { conditions }: Call,
  criteria: Criteria,
  view: WriteView,
  { deletesMultiple, store }: Services,
): Promise<WriteTarget> {
  const { type, where } = criteria;
  const most = deletesMultiple ? MAX_DELETED : 1;
  const { found, preconditions } = await matchCriteria(criteria, view, most + 1);
  const isConditional = conditions.ifMatch !== undefined;
  if (found.length > 1 && (!deletesMultiple || isConditional)) {
    throw isConditional && deletesMultiple
      ? several({ ...criteria, part: 'ifMatch' }, 'If-Match: a version is that of one resource, but several fulfil')
      : several(criteria);
  }
  if (found.length > most) {
    const { total = found.length } = await store.find({ type, where, sort: [], count: 0, total: 'accurate' });
    throw several(criteria, `At once ${MAX_DELETED} may be deleted, and ${total} fulfil`);
  }
  if (found.length < 2) checkWrite(conditions, found[0]);
  return { type, targets: found.map((current) => ({ id: current.id, current })), preconditions };
}

/** Refuses deletions of what others need: of resources, and of topics by live Subscriptions. */
function openDeletable(call: Call, services: Services): ReturnType<typeof openUnreferred> {
  const unreferred = openUnreferred(call, services);
  return async (deletions) => {
    for (const { type, id } of deletions) await services.subscriptions?.checkDelete(type, id);
    return unreferred(deletions);
  };
}

/** @param explain the message when there is nothing to delete */
async function decide(
  call: Call,
  deletable: ReturnType<typeof openDeletable>,
  writeTarget: WriteTarget,
  explain: (targets: WriteTarget['targets']) => string,
): Promise<Decided> {
  const { type, targets } = writeTarget;
  const deletions = targets.flatMap(({ id, current }): Deletion[] =>
    liveVersion(current) === undefined ? [] : [{ type, id, ...expecting(current) }],
  );
  const changes = await deletable(deletions);
  const about = targets.flatMap(({ current }) => liveVersion(current) ?? []);
  return { changes, reply: (written) => ({ ...reply(call, written, () => explain(targets)), about }) };
}

function reply({ prefer }: Call, written: readonly StoredVersion[], explain: () => string): Reply {
  const [first, second] = written;
  const head =
    first === undefined || second !== undefined
      ? {}
      : { versionId: String(first.version), lastUpdated: first.lastUpdated };
  if (prefer.return === 'minimal') return { ...head, status: 204 };
  const names = written.slice(0, MAX_NAMED).map(({ type, id }) => `${type}/${id}`);
  const others = written.length > names.length ? ` and ${written.length - names.length} more` : '';
  const text =
    first === undefined ? explain() : `${names.join(', ')}${others} ${second === undefined ? 'is' : 'are'} deleted`;
  return { ...head, status: 200, resource: successOutcome(text) };
}

/** Resources that an outcome names. */
const MAX_NAMED = 10;

function shown({ text }: Criteria): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
