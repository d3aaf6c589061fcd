import { FhirError } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import type { Change, Precondition } from '../../store/store.js';
import type { WriteTarget, WritePlan } from '../../core/write/write-plan.js';
import { applyLinks } from './links/apply-links.js';
import type { Services } from '../../core/services.js';
import { entryPath, forEntry } from './entry-error.js';
import { Phase } from './entry.js';
import { openIdentities } from './identities.js';
import { replaceInQuery } from './links/match-url.js';
import type { CachingView } from './drafts/caching-view.js';
import { overlay, type Overlay } from './drafts/overlay.js';
import type { Yield } from '../../fhir/yield-to-event-loop.js';
import { inParallel } from './in-parallel.js';
import type { Placeholders } from './links/placeholders.js';
import { isConditional, paramsOf, planOf, type Step } from './steps.js';
import { wholeTarget } from './whole-target.js';

/** A step and the resources that it changes. */
export interface TargetedStep {
  readonly step: Step;
  readonly plan: WritePlan;
  readonly writeTarget: WriteTarget;
}

/** The targets of all steps. */
export interface WriteTargets {
  /** In the order of execution. */
  readonly targeted: readonly TargetedStep[];
  /** `Type/id` of each entry's resource, by the index of the entry. */
  readonly names: ReadonlyMap<number, string>;
  readonly preconditions: readonly Precondition[];
  /** The store with the changes of all entries, for conditional references. */
  readonly view: Overlay;
}

/** Input of `targetSteps`. */
export interface TargetContext {
  readonly steps: readonly Step[];
  readonly placeholders: Placeholders;
  /** Types that something in the Bundle searches. */
  readonly searched: ReadonlySet<string>;
  readonly view: CachingView;
  readonly services: Services;
  readonly yieldIfDue: Yield;
}

/** Number of searches executed concurrently. */
const WIDTH = 16;

/**
 * Resolves the target of each entry, in the order of execution: each entry sees the changes of those before it.
 *
 * @throws FhirError if a target cannot be resolved or a precondition fails; `bundle-identity`
 */
export async function targetSteps(context: TargetContext): Promise<WriteTargets> {
  const { steps, view } = context;
  await searchAhead(context);
  const names = new Map<number, string>();
  const identities = openIdentities();
  for (const { entry, call } of steps) {
    if (call.type === undefined || call.id === undefined) continue;
    const name = `${call.type}/${call.id}`;
    names.set(entry.index, name);
    identities.claim(name, entry.index);
  }
  const laid = overlay(view, context.yieldIfDue);
  const targeted: TargetedStep[] = [];
  const preconditions = new Set<Precondition>();
  // Plain creates first: they depend on no other entry, and the criteria of others may refer to them.
  for (const step of steps) {
    await context.yieldIfDue();
    if (step.plan === undefined || step.call.interaction !== 'create' || isConditional(step)) continue;
    const { plan } = step;
    const { targets } = await forEntry(step.entry.index, () => plan.resolveTarget(view));
    const [target] = targets;
    if (target !== undefined) names.set(step.entry.index, `${step.call.type}/${target.id}`);
  }
  let remaining = steps;
  while (remaining.length > 0) {
    const waiting: Step[] = [];
    for (const step of remaining) {
      await context.yieldIfDue();
      if ([...step.needs].some((index) => !names.has(index))) {
        waiting.push(step);
        continue;
      }
      const { index } = step.entry;
      await forEntry(index, async () => {
        const plan = step.plan ?? (await completePlan(step, names, context));
        const writeTarget = await plan.resolveTarget(laid);
        // A conditional create that matches the resource of another entry does not write to it.
        if (writeTarget.exists !== true)
          for (const { id } of writeTarget.targets) identities.claim(`${writeTarget.type}/${id}`, index);
        const one = { step, plan, writeTarget };
        const [target] = writeTarget.targets;
        if (target !== undefined) names.set(index, `${writeTarget.type}/${target.id}`);
        for (const precondition of writeTarget.preconditions) preconditions.add(precondition);
        await layOver(one, names, laid, context);
        targeted.push(one);
      });
    }
    if (waiting.length === remaining.length) throw circular(waiting);
    remaining = waiting;
  }
  return { targeted, names, preconditions: [...preconditions], view: laid };
}

/** Runs the searches of all criteria concurrently, to fill the cache of the view. A failure recurs where it is reported. */
async function searchAhead({ steps, view, yieldIfDue }: TargetContext): Promise<void> {
  const plans = steps.filter(isConditional).flatMap(({ plan }) => plan ?? []);
  await inParallel(plans, WIDTH, async (plan) => {
    await yieldIfDue();
    await plan.resolveTarget(view).catch(() => {});
  });
}

/** The plan of a step whose criteria refer to other entries. */
async function completePlan(
  { call, entry }: Step,
  names: ReadonlyMap<number, string>,
  { placeholders, services }: TargetContext,
): Promise<WritePlan> {
  const nameOf = (text: string): string | undefined => {
    const index = placeholders.find(text, entry);
    return index === undefined ? undefined : names.get(index);
  };
  const { conditions, type, params } = call;
  const { ifNoneExist } = conditions;
  if (ifNoneExist === undefined) {
    return planOf({ ...call, params: replaceInQuery(type, params, nameOf, services.tables) }, services);
  }
  const query = replaceInQuery(type, paramsOf(call, services), nameOf, services.tables).toString();
  return planOf({ ...call, conditions: { ...conditions, ifNoneExist: query } }, services);
}

/** Adds the change of a step to the overlay, if a later step could search for it. */
async function layOver(
  targeted: TargetedStep,
  names: ReadonlyMap<number, string>,
  laid: Overlay,
  { searched, view, services: { extract } }: TargetContext,
): Promise<void> {
  const { step, writeTarget } = targeted;
  const { type, targets, exists: isThere } = writeTarget;
  if (isThere === true || !searched.has(type)) return;
  if (step.entry.phase === Phase.Delete) {
    for (const { id } of targets) laid.remove(type, id);
    return;
  }
  const [target] = targets;
  if (target === undefined) return;
  const content = await draftOf({ ...targeted, writeTarget: await wholeTarget(targeted, view) }, names);
  if (content === undefined) return;
  laid.put({ type, id: target.id, version: (target.current?.version ?? 0) + 1, entries: extract(content) });
}

/** The content that a step will write, as far as it is known; undefined if there is none. */
async function draftOf(
  { step, plan, writeTarget }: TargetedStep,
  names: ReadonlyMap<number, string>,
): Promise<Resource | undefined> {
  const { entry, call, links } = step;
  applyLinks(links, {
    ofEntry: (index) => names.get(index),
    ofCriteria: () => undefined,
    versionOf: () => undefined,
  });
  if (call.interaction !== 'patch' && call.interaction !== 'conditional-patch') return entry.resource;
  try {
    return (await plan.decide(writeTarget)).changes.find(isPut)?.content;
  } catch (error) {
    // The patch may test for a reference that is not resolved yet. If it fails for another reason, it will fail again.
    if (error instanceof FhirError && links.length > 0) return undefined;
    throw error;
  }
}

function isPut(change: Change): change is Change & { readonly content: Resource } {
  return change.content !== undefined;
}

function circular(waiting: readonly Step[]): FhirError {
  const [first, ...others] = waiting.map(({ entry }) => ({
    code: 'bundle-placeholder' as const,
    text: 'The searches of these entries depend on what they themselves find',
    expression: `${entryPath(entry.index)}.request`,
  }));
  if (first === undefined) throw new Error('nothing waits');
  return FhirError.of([first, ...others]);
}
