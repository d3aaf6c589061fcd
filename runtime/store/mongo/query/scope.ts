import type { PlanLimits } from '../../plan/limits.js';
import { compile, type Conjunct } from './compile/compile.js';
import type { Links } from './links/links.js';
import { hasLinks, type Plan } from './plan/plan.js';

/** A search within one type. */
export interface Scope {
  readonly links: Links;
  readonly limits: PlanLimits;
  readonly type: string;
  readonly plan: Plan;
  /** The plan without its links, as filters and ways. */
  readonly conjuncts: readonly Conjunct[];
  /** Whether other resources have to be asked. */
  readonly isLinked: boolean;
}

/** @throws FhirError for what is too large to be asked */
export function openScope(links: Links, type: string, plan: Plan): Scope {
  return {
    links,
    limits: links.planLimits,
    type,
    plan,
    conjuncts: compile(type, plan),
    isLinked: hasLinks(plan),
  };
}
