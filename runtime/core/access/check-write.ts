import { neededOn } from '../../auth/access/needed-scopes.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import type { Access } from '../../auth/scopes/access.js';
import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import { FhirError } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import { expecting, type Change, type StoredVersion } from '../../store/store.js';
import type { Call } from '../call.js';
import { checkEffects } from './check-parameters.js';
import { checkedView, checkContent, lettersOf } from './checked-view.js';
import { asksContent } from '../../patch/apply/patch-questions.js';
import { hideTargets, leadsToNothing } from '../references/hidden-targets.js';
import { sentNames } from '../references/sent-names.js';
import { composePut } from '../write/compose-change.js';
import { readStored } from '../read-stored.js';
import { liveVersion } from '../write/preconditions.js';
import type { Services } from '../services.js';
import { isJudged, isShown, isVisible, SHOWING } from './visibility.js';
import { typeOf } from '../target.js';
import type { WriteTarget, Decided, WritePlan, WritePlanner } from '../write/write-plan.js';
import { mayReturnWritten, withoutContent } from './write-response-visibility.js';

/**
 * Bounds the writes of a planner by the constraints of the token: what is there and lies outside is as good as unknown
 * (404, before preconditions could tell of it), what is written must not lie outside (403). A patch that asks what is there
 * needs `r` or `s` beside `u`: it is a question as criteria are.
 */
export function withWriteAccess(planner: WritePlanner): WritePlanner {
  return async (call, services) => {
    const plan = await planner(call, services);
    return call.principal.access === OPEN_ACCESS ? plan : guardPlan(plan, call, services);
  };
}

async function guardPlan(plan: WritePlan, call: Call, services: Services): Promise<WritePlan> {
  const asks = await asksUnread(call);
  return {
    ...plan,
    resolveTarget: (view) => plan.resolveTarget(checkedView(view, call, services)),
    async decide(writeTarget, content) {
      if (asks) await checkAnswers(writeTarget, call, services);
      const made = await decideUnquoted(plan, writeTarget, content, call, services);
      const changes = await hideTargets(
        await withSentTargets(made.changes, writeTarget, call, services),
        call,
        services,
      );
      const decided = changes === made.changes ? made : { ...made, changes };
      for (const change of decided.changes) if (change.content !== undefined) checkContent(change, call);
      await checkEffects(decided.changes, writeTarget, lettersOf(call).writes, call, services);
      if (
        writeTarget.exists === true ||
        (await mayReturnWritten(decided.changes[0], writeTarget, content, call, services))
      )
        return decided;
      return { ...decided, reply: (written) => withoutContent(decided.reply(written)) };
    },
  };
}

/**
 * Changes whose references have to lead somewhere, though the version before has them, where the token does not show that version: whether
 * a reference that the client sends is taken would tell whether it is there.
 */
async function withSentTargets(
  changes: readonly Change[],
  { targets: [target], exists }: WriteTarget,
  call: Call,
  services: Services,
): Promise<readonly Change[]> {
  const { integrity } = services;
  const live = liveVersion(target?.current);
  if (integrity === undefined || live === undefined || exists === true) return changes;
  if (await isShown(live, call, services)) return changes;
  const names = call.patch === undefined ? undefined : await sentNames(call.patch);
  if (changes.length === 0) return withUnchanged(live, names, call, services);
  return changes.map((change) => {
    if (change.content === undefined || change.type !== live.type || change.id !== live.id) return change;
    const asked = new Set(change.targets?.map(({ expression }) => expression));
    const targets = integrity
      .targetsOf(change.content, undefined)
      ?.filter(({ type, id, expression }) => names?.has(`${type}/${id}`) !== false || asked.has(expression));
    return targets === undefined || targets.length === 0 ? change : { ...change, targets };
  });
}

/**
 * The change that a write makes which changes nothing: none, unless a reference that the client sends leads to nothing. Then it is what the
 * store refuses, as it would with any other reference to that.
 *
 * @param names what a patch names; undefined: the whole content was sent
 */
async function withUnchanged(
  live: StoredVersion,
  names: ReadonlySet<string> | undefined,
  call: Call,
  services: Services,
): Promise<readonly Change[]> {
  const { store, integrity } = services;
  const { type, id, version } = live;
  // The text is empty where a transaction has no room for it.
  const { json } = live.json === '' ? { ...(await store.readVersion(type, id, version)) } : live;
  if (json === undefined) return [];
  const content = await readStored(json, services);
  const targets = integrity
    ?.targetsOf(content, undefined)
    ?.filter((each) => names?.has(`${each.type}/${each.id}`) !== false);
  if (targets === undefined || targets.length === 0) return [];
  const put = await composePut(content, id, undefined, services, { tags: 'as-sent' });
  if (put === undefined) return [];
  const change: Change = { ...put, ...expecting(live), targets };
  return (await leadsToNothing(change, call, services)) ? [change] : [];
}

/** Whether a patch asks for content of resources not all of which the token shows. @throws FhirError where it shows none */
async function asksUnread(call: Call): Promise<boolean> {
  const { patch, principal } = call;
  if (patch === undefined) return false;
  const type = typeOf(call);
  const reach = principal.access.onAny(type, SHOWING);
  if ((reach === 'everything' && !isJudged(type, reach)) || !(await asksContent(patch))) return false;
  if (reach === 'nothing') throw showingMissing(type, principal.access);
  return true;
}

/** @throws FhirError `scope-missing` where the token does not show what a patch asks about */
async function checkAnswers({ type, targets: [target] }: WriteTarget, call: Call, services: Services): Promise<void> {
  const live = liveVersion(target?.current);
  if (live === undefined) return;
  if (await isShown(live, call, services)) return;
  throw showingMissing(type, call.principal.access);
}

function showingMissing(type: string, access: Access): FhirError {
  return scopeMissing(neededOn(type, 'ru'), access);
}

/**
 * Why a patch fails may quote what is there, and what kind of failure it is may disclose it: a client that may not read it learns only that it
 * fails, and no more. That alone tells whether the places are there that it names, as the specification has it.
 */
async function decideUnquoted(
  plan: WritePlan,
  writeTarget: WriteTarget,
  content: Resource | undefined,
  call: Call,
  services: Services,
): Promise<Decided> {
  try {
    return await plan.decide(writeTarget, content);
  } catch (error) {
    const live = liveVersion(writeTarget.targets[0]?.current);
    if (call.patch === undefined || live === undefined || !(error instanceof FhirError)) throw error;
    if (error.status >= 500 || (await isVisible(live, 'r', call, services))) throw error;
    throw new FhirError('patch-target', UNQUOTED);
  }
}

const UNQUOTED = 'The patch cannot be applied, or what it makes is not valid; with r the token would show why';
