import { EVERYTHING, NOTHING, type Condition, type Leaf } from '../../../../search/query/query.js';
import { printCondition } from '../../../../search/query/print.js';
import type { RowTest } from '../compile/row-test.js';

/** A chain whose targets are known: rows that lead to one of them. */
interface KnownTargets {
  readonly rows: readonly RowTest[];
  /** The original condition that it replaces. */
  readonly of: Condition;
}

/** A link whose resources are known by their ids. */
interface KnownIds {
  readonly ids: readonly string[];
  /** The original condition that it replaces. */
  readonly of: Condition;
}

/** Condition of a link on resources of a type. */
export interface PlannedTarget {
  readonly type: string;
  readonly where: Plan;
}

/** A link that is not known yet. */
export type PlannedLink =
  | { readonly param: string; readonly chain: readonly PlannedTarget[] }
  | { readonly has: PlannedTarget & { readonly param: string } };

/** A condition while its links are replaced by what they come to. */
export type Plan =
  | { readonly all: readonly Plan[] }
  | { readonly some: readonly Plan[] }
  | { readonly not: Plan }
  | PlannedLink
  | KnownTargets
  | KnownIds
  | Leaf;

/** Whether it is a link that is not known yet. */
export function isLink(plan: Plan): plan is PlannedLink {
  return 'chain' in plan || 'has' in plan;
}

/** The links of a plan that are not known yet, those below other links left out. */
export function linksOf(plan: Plan): PlannedLink[] {
  if ('all' in plan) return plan.all.flatMap(linksOf);
  if ('some' in plan) return plan.some.flatMap(linksOf);
  if ('not' in plan) return linksOf(plan.not);
  return isLink(plan) ? [plan] : [];
}

/** Whether other resources have to be asked. */
export function hasLinks(plan: Plan): boolean {
  return linksOf(plan).length > 0;
}

/** Replaces the links of a plan by other plans. The result is the same object where each link is replaced by itself. */
export async function mapLinks(plan: Plan, replace: (link: PlannedLink) => Promise<Plan>): Promise<Plan> {
  if (!hasLinks(plan)) return plan;
  const each = async (plans: readonly Plan[]): Promise<readonly Plan[] | undefined> => {
    const made = await Promise.all(plans.map((one) => mapLinks(one, replace)));
    return made.every((one, i) => one === plans[i]) ? undefined : made;
  };
  if ('all' in plan) {
    const all = await each(plan.all);
    return all === undefined ? plan : { all };
  }
  if ('some' in plan) {
    const some = await each(plan.some);
    return some === undefined ? plan : { some };
  }
  if ('not' in plan) {
    const not = await mapLinks(plan.not, replace);
    return not === plan.not ? plan : { not };
  }
  return isLink(plan) ? replace(plan) : plan;
}

/** The conditions that all have to be fulfilled. */
export function conjunctsOf(plan: Plan): readonly Plan[] {
  return 'all' in plan ? plan.all.flatMap(conjunctsOf) : [plan];
}

/** A plan without links that everything fulfils that fulfils this one: its candidates. */
export function relax(plan: Plan): Plan {
  return loosen(plan, true);
}

/** @param isMore whether it may find more than the plan; else it may find less */
function loosen(plan: Plan, isMore: boolean): Plan {
  if (!hasLinks(plan)) return plan;
  if ('all' in plan) {
    const parts = plan.all.map((one) => loosen(one, isMore)).filter((one) => !isEverything(one));
    return parts.some(isNothing) ? NOTHING : { all: parts };
  }
  if ('some' in plan) {
    const parts = plan.some.map((one) => loosen(one, isMore)).filter((one) => !isNothing(one));
    return parts.some(isEverything) ? EVERYTHING : { some: parts };
  }
  if ('not' in plan) {
    const inner = loosen(plan.not, !isMore);
    return isNothing(inner) ? EVERYTHING : isEverything(inner) ? NOTHING : { not: inner };
  }
  if (!isMore) return NOTHING;
  return 'chain' in plan ? { param: plan.param, present: 'reference' } : EVERYTHING;
}

function isEverything(plan: Plan): boolean {
  return 'all' in plan && plan.all.every(isEverything);
}

function isNothing(plan: Plan): boolean {
  return 'some' in plan && plan.some.every(isNothing);
}

/** Returns the original condition of a plan. */
export function askedFor(plan: Plan): Condition {
  if ('of' in plan) return plan.of;
  if ('all' in plan) return { all: plan.all.map(askedFor) };
  if ('some' in plan) return { some: plan.some.map(askedFor) };
  if ('not' in plan) return { not: askedFor(plan.not) };
  if ('chain' in plan)
    return { ...plan, chain: plan.chain.map(({ type, where }) => ({ type, where: askedFor(where) })) };
  if ('has' in plan) return { has: { ...plan.has, where: askedFor(plan.has.where) } };
  return plan;
}

/** Prints the original condition of a plan. */
export function printPlan(plan: Plan): string {
  return printCondition(askedFor(plan));
}
