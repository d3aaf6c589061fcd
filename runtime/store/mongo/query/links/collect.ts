import { fewestRows, findDrivers, onlyDriver } from '../drivers.js';
import type { Hit } from '../hit.js';
import { typeStretch } from '../plan/access.js';
import type { Plan } from '../plan/plan.js';
import { lengthOf } from '../plan/probe.js';
import { openScope } from '../scope.js';
import { allOf, KEYS, throughArms, throughType } from '../walks.js';
import { toHeld, type Held, type Need } from './held.js';
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

/** The same with what is needed of each. */
export async function collectHeld(
  links: Links,
  type: string,
  plan: Plan,
  most: number,
  need: Need,
): Promise<readonly Held[] | undefined> {
  return (await collect(links, type, plan, most, need))?.map(({ bytes }) => toHeld(bytes));
}

/** How many times as many may be looked at as are wanted, where no others have to be asked. */
const TIMES = 2;

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
  // What is one range, and nothing else, is listed at once.
  const sole = isLinked ? undefined : onlyDriver(conjuncts);
  const only = conjuncts.length === 1 && sole?.isExact === true && most <= links.limits.few ? sole : undefined;
  const drivers = only === undefined ? await findDrivers(conjuncts, { snapshot, probes, limit: rows }) : [only];
  const best = fewestRows(drivers);
  if (best === undefined) {
    const isLong = (await lengthOf(snapshot, typeStretch(type), { _id: 1 }, most + 1)) > most;
    return isLong ? undefined : allOf(scope, throughType(scope, need), most);
  }
  return best.count > rows ? undefined : allOf(scope, throughArms(scope, best, need), most);
}
