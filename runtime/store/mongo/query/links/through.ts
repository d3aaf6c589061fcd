import type { ArmPlace } from '../../../plan/cursor.js';
import type { Hits, HitWalk } from '../hit.js';
import { KEYS, pageOf, throughArms, type Reading } from '../walks.js';
import { followChain } from './follow-chain.js';
import { followHas } from './follow-has.js';
import { readPlace, type Follow, type Gathering, type LinkPlace } from './follow.js';
import { toCandidate, type Need } from './candidate.js';
import { candidatesOf } from './filter-links.js';
import type { LinkDriver, Side } from './link-driver.js';

/** Returns a walk through the resources that a link leads to, in the order of its other side: each once, and only those that fulfil all else. */
export function throughLink({ link, sides, rest }: LinkDriver, reading: Reading): HitWalk<ArmPlace> {
  const isChain = 'chain' in link;
  const ofSide: Need = isChain ? KEYS : { params: [link.has.param], names: false };

  async function next(after: ArmPlace | undefined, wanted: number, rows: number): Promise<Hits | undefined> {
    const from = after === undefined ? undefined : readPlace(after);
    const gathering: Gathering = { hits: [], wanted, rows };
    const follow = isChain ? followChain(rest, link, sides, reading) : followHas(rest, link, sides[0], reading, from?.key); // prettier-ignore
    for (const [target, side] of sides.entries()) {
      if (side === undefined || (from !== undefined && target < from.target)) continue;
      const isHere = from?.target === target;
      if (isHere && !(await finish(side, from, follow, gathering))) return undefined;
      if (!(await goThrough(side, target, isHere ? from.outer : undefined, follow, gathering))) return undefined;
      if (gathering.hits.length >= wanted) break;
    }
    const { hits } = gathering;
    return { hits: hits.slice(0, wanted), isOver: hits.length < wanted };
  }

  /** The one that the page before ended at, if it is still what is looked for. */
  async function finish(side: Side, from: LinkPlace, follow: Follow, gathering: Gathering): Promise<boolean> {
    const { type, plan } = side.scope;
    const [candidate] = await candidatesOf(rest.links, type, plan, [from.key], { isTrying: false }, ofSide);
    if (candidate === undefined) return true;
    const { arm, at } = from.outer;
    return follow(gathering, from.target, [{ candidate, place: { arm: () => arm, at } }], from.inner);
  }

  async function goThrough(
    { scope, driver }: Side,
    target: number,
    after: ArmPlace | undefined,
    follow: Follow,
    gathering: Gathering,
  ): Promise<boolean> {
    const walk = driver.isFar ? throughLink(driver, ofSide) : throughArms(scope, driver, ofSide);
    const own = driver.isFar ? { ...scope, isLinked: false } : scope;
    let at = after;
    const { first, most } = rest.links.limits.sides;
    for (let size = first; gathering.hits.length < gathering.wanted; size = Math.min(4 * size, most)) {
      const found = await pageOf(own, walk, at, size, gathering.rows);
      gathering.rows -= found?.hits.length ?? 0;
      if (found === undefined || gathering.rows < 0) return false;
      const outers = found.hits.map(({ key, bytes, place }) => ({
        candidate: { ...toCandidate(bytes), key },
        place: place!,
      }));
      if (!(await follow(gathering, target, outers, undefined))) return false;
      const last = found.hits.at(-1);
      if (found.isOver || last === undefined) return true;
      at = walk.placeOf(last);
    }
    return true;
  }

  return { next, placeOf: ({ place }) => ({ arm: place!.arm(), at: place!.at }) };
}
