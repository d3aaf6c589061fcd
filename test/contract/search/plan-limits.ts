import type { PlanLimits } from '../../../runtime/store/plan/limits.js';

/** What a plan may be chosen by, so that small data see every way. */
export const WALKED: PlanLimits = { glance: 0, compared: 0, few: 0, first: 1, more: 8, last: 0 };
export const IMPATIENT: PlanLimits = { glance: 0, compared: 3, few: 0, first: 5, more: 2, last: 1_000_000 };
export const COUNTED: PlanLimits = { glance: 1e9, compared: 0, few: 1e9, first: 1, more: 8, last: 1_000_000 };

/** The same with what each is for. */
export const WAYS: readonly (readonly [string, PlanLimits])[] = [
  ['walked, whatever it takes', WALKED],
  ['walked for a short while, then found otherwise', IMPATIENT],
  ['led by the criterion with the fewest matches', COUNTED],
];
