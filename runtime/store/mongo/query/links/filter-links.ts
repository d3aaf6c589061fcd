import type { Document } from 'mongodb';

import { append } from '../../../../fhir/lists.js';
import { idOf } from '../../bson/bson.js';
import { compile, everyOf, LIVING, restOf } from '../compile/compile.js';
import { conjunctsOf, hasLinks, isLink, mapLinks, relax, type Plan, type PlannedLink } from '../plan/plan.js';
import type { TargetFilter, Targets, Effort } from './target-filter.js';
import { filterByChain } from './filter-by-chain.js';
import { filterByHas } from './filter-by-has.js';
import { bothNeeds, needOf, projectionOf, toCandidate, type Candidate, type Need } from './candidate.js';
import type { Links } from './links.js';
import { readByKeys } from './read-all.js';

/**
 * Filters resources by a plan.
 *
 * @param candidates of the type; they fulfil `relax` of it
 * @throws TooFar
 */
export async function filterByLinks(
  links: Links,
  type: string,
  plan: Plan,
  candidates: readonly Candidate[],
  effort: Effort,
): Promise<readonly Candidate[]> {
  let left = candidates;
  const mixed: Plan[] = [];
  for (const part of conjunctsOf(plan)) {
    if (left.length === 0) return left;
    if (isLink(part)) left = await filterByLink(links, type, part, left, effort);
    else if (hasLinks(part)) mixed.push(part);
  }
  if (mixed.length === 0 || left.length === 0) return left;
  const asked = left;
  const known = await mapLinks({ all: mixed }, async (link) => ({
    ids: (await filterByLink(links, type, link, asked, effort)).map(({ key }) => key.slice(type.length + 1)),
  }));
  const keys = left.map(({ key }) => key);
  const found = new Set<string>();
  for await (const documents of readByKeys(links.ask, keys, filtersOf(type, known), { _id: 1 })) {
    for (const bytes of documents) found.add(idOf(bytes));
  }
  return left.filter(({ key }) => found.has(key));
}

function filterByLink(
  links: Links,
  type: string,
  link: PlannedLink,
  candidates: readonly Candidate[],
  effort: Effort,
): Promise<readonly Candidate[]> {
  return 'chain' in link
    ? filterByChain(TARGETS, links, link, candidates, effort)
    : filterByHas(TARGETS, links, type, link.has, candidates, effort);
}

/** A plan without links as filters of what an index finds. */
function filtersOf(type: string, plan: Plan): Document[] {
  return [...restOf(compile(type, plan)), LIVING];
}

/** @param need what is needed besides */
function toTargetFilter(
  links: Links,
  type: string,
  plan: Plan,
  need: Need = { params: [], names: false },
): TargetFilter {
  const isLinked = hasLinks(plan);
  return {
    filter: everyOf(filtersOf(type, relax(plan))),
    projection: projectionOf(bothNeeds(needOf(plan), need)),
    keep: async (candidates, effort) => (isLinked ? filterByLinks(links, type, plan, candidates, effort) : candidates),
    hasLinks: isLinked,
  };
}

/** Reads the resources of a type with some keys that fulfil a plan. @param need what is needed of them */
export async function candidatesOf(
  links: Links,
  type: string,
  plan: Plan,
  keys: readonly string[],
  effort: Effort,
  need?: Need,
): Promise<readonly Candidate[]> {
  const asked = toTargetFilter(links, type, plan, need);
  const found: Candidate[] = [];
  for await (const documents of readByKeys(links.ask, keys, [asked.filter], asked.projection)) {
    append(found, await asked.keep(documents.map(toCandidate), effort));
  }
  return found;
}

async function filterKeys(
  links: Links,
  type: string,
  plan: Plan,
  keys: readonly string[],
  effort: Effort,
): Promise<ReadonlySet<string>> {
  return new Set((await candidatesOf(links, type, plan, keys, effort)).map(({ key }) => key));
}

/** How what is beyond links is asked. */
export const TARGETS: Targets = { toTargetFilter, filterKeys };
