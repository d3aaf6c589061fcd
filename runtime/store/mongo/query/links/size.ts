import { append, least } from '../../../../fhir/lists.js';
import { typeAccess } from '../plan/access.js';
import { probeAll, shortest, waysToCount } from '../plan/choose.js';
import { compile } from '../compile/compile.js';
import { linksOf, relax, type Plan, type PlannedTarget } from '../plan/plan.js';
import type { Links, Size } from './links.js';

/** So far is counted at least: what is longer than a few is asked for further mostly, and that would be one command more. */
const NEAR = 500;

/** Counts the entries of the access paths of a plan without its links, up to a limit. */
export function sizeOf(links: Links, type: string, plan: Plan, limit: number): Promise<Size> {
  return links.known.sizes(type, plan, limit, () => measure(links, type, plan, limit));
}

async function measure(links: Links, type: string, plan: Plan, limit: number): Promise<Size> {
  const { snapshot, probes, probed } = links;
  const conjuncts = compile(type, relax(plan));
  const ways = waysToCount(conjuncts);
  if (ways.length === 0) return { ...(await probes.count(snapshot, typeAccess(type), limit)), conjuncts };
  const counted = await probeAll(snapshot, probes, ways, Math.max(limit, NEAR));
  append(probed, counted);
  const best = shortest(counted);
  return best.matches > limit ? { ...best, matches: limit, isMore: true, conjuncts } : { ...best, conjuncts };
}

/** The fewest that lie on any way of a plan, those of the plans behind its links included; Infinity: more than the limit. */
export function fewestIn(links: Links, type: string, plan: Plan, limit: number): Promise<number> {
  return links.known.fewest(type, plan, limit, () => lookForFewest(links, type, plan, limit));
}

async function lookForFewest(links: Links, type: string, plan: Plan, limit: number): Promise<number> {
  const own = await sizeOf(links, type, plan, limit);
  const beyond = linksOf(plan).flatMap((link): readonly PlannedTarget[] => ('chain' in link ? link.chain : [link.has]));
  // Of a link to anything each type is a way of its own, and none of them the whole of it.
  const each = beyond.length > MOST ? [] : beyond;
  const others = await Promise.all(each.map((target) => fewestIn(links, target.type, target.where, limit)));
  return least(others, own.isMore ? Infinity : own.matches);
}

/** More targets are not looked at one by one. */
const MOST = 8;
