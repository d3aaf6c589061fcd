import type { Document } from 'mongodb';

import { append } from '../../../../fhir/lists.js';
import { idOf } from '../../bson/bson.js';
import { compile, everyOf, LIVING, restOf } from '../compile/compile.js';
import { conjunctsOf, hasLinks, isLink, mapLinks, relax, type Plan, type PlannedLink } from '../plan/plan.js';
import type { Asked, Beyond, Reach } from './asked.js';
import { holdChain } from './chain.js';
import { holdHas } from './has.js';
import { bothNeeds, needOf, projectionOf, toHeld, type Held, type Need } from './held.js';
import type { Links } from './links.js';
import { readByKeys } from './read-all.js';

/**
 * Those of some resources that fulfil a plan.
 *
 * @param candidates of the type; they fulfil `relax` of it
 * @throws TooFar
 */
export async function hold(
  links: Links,
  type: string,
  plan: Plan,
  candidates: readonly Held[],
  reach: Reach,
): Promise<readonly Held[]> {
  let left = candidates;
  const mixed: Plan[] = [];
  for (const part of conjunctsOf(plan)) {
    if (left.length === 0) return left;
    if (isLink(part)) left = await holdLink(links, type, part, left, reach);
    else if (hasLinks(part)) mixed.push(part);
  }
  if (mixed.length === 0 || left.length === 0) return left;
  const asked = left;
  const known = await mapLinks({ all: mixed }, async (link) => ({
    ids: (await holdLink(links, type, link, asked, reach)).map(({ key }) => key.slice(type.length + 1)),
  }));
  const keys = left.map(({ key }) => key);
  const found = new Set<string>();
  for await (const documents of readByKeys(links.ask, keys, filtersOf(type, known), { _id: 1 })) {
    for (const bytes of documents) found.add(idOf(bytes));
  }
  return left.filter(({ key }) => found.has(key));
}

function holdLink(
  links: Links,
  type: string,
  link: PlannedLink,
  held: readonly Held[],
  reach: Reach,
): Promise<readonly Held[]> {
  return 'chain' in link
    ? holdChain(BEYOND, links, link, held, reach)
    : holdHas(BEYOND, links, type, link.has, held, reach);
}

/** A plan without links as filters of what an index finds. */
function filtersOf(type: string, plan: Plan): Document[] {
  return [...restOf(compile(type, plan)), LIVING];
}

/** @param need what is needed besides */
function toAsked(links: Links, type: string, plan: Plan, need: Need = { params: [], names: false }): Asked {
  const isLinked = hasLinks(plan);
  return {
    filter: everyOf(filtersOf(type, relax(plan))),
    projection: projectionOf(bothNeeds(needOf(plan), need)),
    keep: async (held, reach) => (isLinked ? hold(links, type, plan, held, reach) : held),
    hasLinks: isLinked,
  };
}

/** Those of some keys of a type whose resources fulfil a plan. @param need what is needed of them */
export async function heldOf(
  links: Links,
  type: string,
  plan: Plan,
  keys: readonly string[],
  reach: Reach,
  need?: Need,
): Promise<readonly Held[]> {
  const asked = toAsked(links, type, plan, need);
  const found: Held[] = [];
  for await (const documents of readByKeys(links.ask, keys, [asked.filter], asked.projection)) {
    append(found, await asked.keep(documents.map(toHeld), reach));
  }
  return found;
}

async function holdKeys(
  links: Links,
  type: string,
  plan: Plan,
  keys: readonly string[],
  reach: Reach,
): Promise<ReadonlySet<string>> {
  return new Set((await heldOf(links, type, plan, keys, reach)).map(({ key }) => key));
}

/** How what is beyond links is asked. */
export const BEYOND: Beyond = { toAsked, holdKeys };
