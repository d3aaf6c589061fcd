import { fewestRows, findDrivers, onlyDriver } from '../drivers.js';
import type { Hit } from '../hit.js';
import { allAccess } from '../plan/access.js';
import type { Plan } from '../plan/plan.js';
import { openScope } from '../scope.js';
import { allOf, KEYS, throughArms, throughType } from '../walks.js';
import { toCandidate, type Candidate, type Need } from './candidate.js';
import type { Links } from './links.js';

/** Keys of what fulfils a plan; undefined: there are more than so many, or several times as many have to be looked at. */
export function collectKeys(
  links: Links,
  type: string,
  plan: Plan,
  most: number,
): Promise<readonly string[] | undefined> {
  return links.known.keys(type, plan, most, async () => (await collect(links, type, plan, most, KEYS))?.map(({ key }) => key)); // prettier-ignore
}

/** Collects like `collectKeys`, with what is needed of each resource. */
export async function collectCandidates(
  links: Links,
  type: string,
  plan: Plan,
  most: number,
  need: Need,
): Promise<readonly Candidate[] | undefined> {
  return (await collect(links, type, plan, most, need))?.map(({ bytes }) => toCandidate(bytes));
}

/** How many times as many may be looked at as are wanted, where no others have to be asked. */
const TIMES = 2;

/** So many keys are listed without being counted first. */
const LISTED = 250;

async function collect(
  links: Links,
  type: string,
  plan: Plan,
  most: number,
  need: Need,
): Promise<readonly Hit[] | undefined> {
  const { snapshot, probes } = links;
  const scope = openScope(links, type, plan);
  const { conjuncts, isLinked } = scope;
  const rows = isLinked || conjuncts.length === 1 ? most : TIMES * most;
  // What an index has, and nothing else, is listed at once.
  const sole = isLinked || conjuncts.length !== 1 ? undefined : onlyDriver(conjuncts);
  if (sole?.isExact === true && most <= LISTED) {
    if (probes.isMore(sole.arms, most)) return undefined;
    const all = await allOf(scope, throughArms(scope, sole, need), most);
    if (all === undefined) probes.note(sole.arms, most + 1, most);
    return all;
  }
  const best = fewestRows(await findDrivers(conjuncts, { snapshot, probes, limit: rows }));
  if (best !== undefined) return best.count > rows ? undefined : allOf(scope, throughArms(scope, best, need), most);
  const size = await probes.count(snapshot, allAccess(type).arms, most);
  return size > most ? undefined : allOf(scope, throughType(scope, need), most);
}
