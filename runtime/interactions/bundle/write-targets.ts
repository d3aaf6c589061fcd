import { FhirError } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import type { Change, Precondition } from '../../store/store.js';
import type { WriteTarget, WritePlan } from '../../core/write/write-plan.js';
import { applyLinks } from './links/apply-links.js';
import type { BundleServices } from './bundle-services.js';
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

/** A step, and the resources that it is about. */
export interface TargetedStep {
  readonly step: Step;
  readonly plan: WritePlan;
  readonly writeTarget: WriteTarget;
}

/** All steps targeted. */
export interface WriteTargets {
  /** In the order of work. */
  readonly targeted: readonly TargetedStep[];
  /** The name of each entry's resource, by the place of the entry. */
  readonly names: ReadonlyMap<number, string>;
  readonly preconditions: readonly Precondition[];
  /** The store with all entries laid over it, for conditional references. */
  readonly view: Overlay;
}

/** What steps are targeted with. */
export interface TargetContext {
  readonly steps: readonly Step[];
  readonly placeholders: Placeholders;
  /** Types that something in the Bundle searches. */
  readonly searched: ReadonlySet<string>;
  readonly view: CachingView;
  readonly services: BundleServices;
  readonly pace: Yield;
}

/** Searches that are under way at a time. */
const WIDTH = 16;

/**
 * Finds out which resource each entry is about, in the order of work: each sees what those before it do.
 *
 * @throws FhirError where one cannot be told, or its preconditions are not met; `bundle-identity`
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
  const laid = overlay(view, context.pace);
  const targeted: TargetedStep[] = [];
  const preconditions = new Set<Precondition>();
  // Nobody waits for what depends on nothing, so that the others find its name.
  for (const step of steps) {
    await context.pace();
    if (step.plan === undefined || step.call.interaction !== 'create' || isConditional(step)) continue;
    const [target] = (await step.plan.resolveTarget(view)).targets;
    if (target !== undefined) names.set(step.entry.index, `${step.call.type}/${target.id}`);
  }
  let left = steps;
  while (left.length > 0) {
    const waiting: Step[] = [];
    for (const step of left) {
      await context.pace();
      if ([...step.needs].some((index) => !names.has(index))) {
        waiting.push(step);
        continue;
      }
      const { index } = step.entry;
      await forEntry(index, async () => {
        const plan = step.plan ?? (await completePlan(step, names, context));
        const writeTarget = await plan.resolveTarget(laid);
        // What another entry writes has no content yet that could be looked at.
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
    if (waiting.length === left.length) throw circular(waiting);
    left = waiting;
  }
  return { targeted, names, preconditions: [...preconditions], view: laid };
}

/** Asks the store all that will be asked anyway, side by side. What fails then fails again, where it can be told. */
async function searchAhead({ steps, view, pace }: TargetContext): Promise<void> {
  const plans = steps.filter(isConditional).flatMap(({ plan }) => plan ?? []);
  await inParallel(plans, WIDTH, async (plan) => {
    await pace();
    await plan.resolveTarget(view).catch(() => {});
  });
}

/** The plan of a step whose search names other entries. */
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
  const query = replaceInQuery(type, paramsOf(call), nameOf, services.tables).toString();
  return planOf({ ...call, conditions: { ...conditions, ifNoneExist: query } }, services);
}

/** Shows the later steps what this one does, where they could look for it. */
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

/** What will be written, as far as it is known; undefined: nothing will be. */
async function draftOf(
  { step, plan, writeTarget }: TargetedStep,
  names: ReadonlyMap<number, string>,
): Promise<Resource | undefined> {
  const { entry, call, links } = step;
  applyLinks(links, { ofEntry: (index) => names.get(index), ofCriteria: () => undefined });
  if (call.interaction !== 'patch' && call.interaction !== 'conditional-patch') return entry.resource;
  try {
    return (await plan.decide(writeTarget)).changes.find(isPut)?.content;
  } catch (error) {
    // It may test for what has no name yet; if it fails for another reason, it will do so again.
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
