import type { Explanation } from '../store.js';
import type { PlanRequest, Source } from './choose.js';

/** The plan that a page came from. */
export interface PlanUsed<S extends Source> {
  readonly request: Exclude<PlanRequest<S>, { ask: 'sources' }>;
  /** How far the rows of sources were counted by then; absent: they were not. */
  readonly counted?: number | undefined;
}

/** Texts for a plan. */
interface PlanTexts<S extends Source> {
  readonly type: string;
  readonly order: string;
  readonly conditionOf: (source: S) => string;
  /** What each candidate is asked. */
  readonly filters: readonly string[];
  /** How many resources were wanted. */
  readonly wanted: number;
}

/** Returns what a plan goes by, and how many rows of it the planner expected to be looked at. */
export function explainPlan<S extends Source>(
  { request, counted }: PlanUsed<S>,
  { type, order, conditionOf, filters, wanted }: PlanTexts<S>,
): Pick<Explanation, 'driving' | 'way' | 'filters' | 'estimated'> {
  const isWalk = request.ask === 'walk';
  const from = isWalk ? request.by : request.from;
  const driving =
    typeof from === 'object' ? conditionOf(from) : from === 'order' ? `the order ${order}` : `every ${type}`;
  const count = typeof from === 'object' && Number.isFinite(from.count) ? from.count : undefined;
  const allowed = isWalk ? request.rows : Infinity;
  // A walk ends when the page is full: where nothing else is asked, each row fills it.
  const needed = isWalk && filters.length === 0 ? wanted : Infinity;
  return {
    driving,
    way: isWalk ? 'walked' : 'collected',
    filters,
    estimated: estimate(count, counted, allowed, needed),
  };
}

/** Undefined: neither the rows nor what the walk was allowed is known. */
function estimate(
  count: number | undefined,
  counted: number | undefined,
  allowed: number,
  needed: number,
): Explanation['estimated'] {
  const isKnown = count !== undefined && counted !== undefined;
  if (isKnown && count <= counted) return { rows: Math.min(count, allowed, needed), bound: 'about' };
  if (needed <= allowed && needed < Infinity) return { rows: needed, bound: 'about' };
  if (allowed < Infinity) return { rows: allowed, bound: 'most' };
  return isKnown ? { rows: counted, bound: 'more' } : undefined;
}
