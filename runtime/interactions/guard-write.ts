import { neededOn, type NeededScopes } from '../auth/guard/needed-scopes.js';
import { scopeMissing } from '../auth/guard/refuse.js';
import { isVisible } from '../auth/guard/visible.js';
import { OPEN_ACCESS } from '../auth/scopes/principal.js';
import type { Interaction } from '../contract/index.js';
import { FhirError } from '../fhir/errors.js';
import type { Resource } from '../fhir/resource.js';
import type { Put, StoredVersion } from '../store/store.js';
import { neededFor } from './authorize.js';
import type { Call } from './call.js';
import { liveVersion } from './preconditions.js';
import type { Services } from './services.js';
import { isJudged, isSeen } from './sight.js';
import { SUBSCRIPTION, subscribedTypes } from './subscribed-types.js';
import type { Aim, Decided, WritePlan, WritePlanner, WriteView } from './write-plan.js';
import { maySeeWritten, withoutContent } from './written-sight.js';

/** The letter that an interaction writes with, and the one by which what is there is seen. */
const LETTERS: Readonly<Partial<Record<Interaction, { readonly writes: string; readonly sees: string }>>> = {
  // What criteria find there is only shown.
  create: { writes: 'c', sees: 's' },
  update: { writes: 'u', sees: 'u' },
  'conditional-update': { writes: 'u', sees: 'u' },
  patch: { writes: 'u', sees: 'u' },
  'conditional-patch': { writes: 'u', sees: 'u' },
  delete: { writes: 'd', sees: 'd' },
  'conditional-delete': { writes: 'd', sees: 'd' },
};

function lettersOf({ interaction }: Call): { readonly writes: string; readonly sees: string } {
  const found = LETTERS[interaction];
  if (found === undefined) throw new Error(`no letter for ${interaction}`);
  return found;
}

/**
 * Bounds the writes of a planner by the constraints of the token: what is there and lies outside is as good as unknown
 * (404, before preconditions could tell of it), what is written must not lie outside (403).
 */
export function guarded(planner: WritePlanner): WritePlanner {
  return async (call, services) => {
    const plan = await planner(call, services);
    return call.principal.access === OPEN_ACCESS ? plan : guardPlan(plan, call, services);
  };
}

/** What a write may look at: of what lies outside the token's constraints it ends. @throws FhirError `not-found` */
export function guardView(view: WriteView, call: Call, services: Services): WriteView {
  if (call.principal.access === OPEN_ACCESS) return view;
  const { sees } = lettersOf(call);
  const check = async (version: StoredVersion): Promise<void> => {
    // An entry before this one writes it: it is judged there.
    if (version.json === '' && (await isDraft(version, services))) return;
    if (await isSeen(version, sees, call, services)) return;
    throw notFound(version.type, version.id);
  };
  return {
    async read(type, id) {
      const version = await view.read(type, id);
      if (version !== undefined) await check(version);
      // As of what lies outside: before preconditions could tell the two apart.
      else if (UNTOLD.has(call.interaction) && isJudged(type, call.principal.access.on(type, sees)))
        throw notFound(type, id);
      return version;
    },
    async match(type, where, most) {
      const matches = await view.match(type, where, most);
      for (const version of matches.found) await check(version);
      return matches;
    },
  };
}

/** Interactions that make nothing of an id that never was. */
const UNTOLD: ReadonlySet<Interaction> = new Set<Interaction>(['patch', 'delete']);

function notFound(type: string, id: string): FhirError {
  return new FhirError('not-found', `There is no ${type}/${id}`);
}

async function isDraft({ type, id, version }: StoredVersion, { store }: Services): Promise<boolean> {
  return (await store.readVersion(type, id, version)) === undefined;
}

function guardPlan(plan: WritePlan, call: Call, services: Services): WritePlan {
  return {
    ...plan,
    aim: (view) => plan.aim(guardView(view, call, services)),
    async decide(aim, content) {
      const decided = await decideUnquoted(plan, aim, content, call, services);
      for (const change of decided.changes) if (change.content !== undefined) judgeContent(change, call, services);
      if (aim.isThere === true || (await maySeeWritten(decided.changes[0], aim, content, call, services)))
        return decided;
      return { ...decided, reply: (written) => withoutContent(decided.reply(written)) };
    },
  };
}

/**
 * Why a patch fails may quote what is there: who may not read that is told the kind of failure alone. Whether a patch fails
 * tells something of what is there in any case: who may change it may test it.
 */
async function decideUnquoted(
  plan: WritePlan,
  aim: Aim,
  content: Resource | undefined,
  call: Call,
  services: Services,
): Promise<Decided> {
  try {
    return await plan.decide(aim, content);
  } catch (error) {
    const live = liveVersion(aim.targets[0]?.current);
    if (call.patch === undefined || live === undefined || !(error instanceof FhirError)) throw error;
    if (error.status >= 500 || (await isSeen(live, 'r', call, services))) throw error;
    throw new FhirError(error.code, UNQUOTED);
  }
}

const UNQUOTED = 'The patch cannot be applied, or what it makes is not valid; to be told why the token needs r';

/** @throws FhirError `scope-missing` where what is to be written is not within what may be */
function judgeContent({ type, id, entries, content }: Put, call: Call, { scopeRows, tables }: Services): void {
  const { access } = call.principal;
  const { writes } = lettersOf(call);
  const missing: NeededScopes | undefined =
    type === SUBSCRIPTION
      ? neededFor(call, { 'subscription-criteria': subscribedTypes(content, tables.resourceTypes) }, access, scopeRows)
      : undefined;
  if (missing !== undefined) throw scopeMissing(missing);
  const next = { id, lastUpdated: Date.now(), entries };
  if (!isVisible(access.on(type, writes), () => next)) throw scopeMissing(neededOn(type, writes));
}
