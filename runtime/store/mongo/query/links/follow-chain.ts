import { compareText } from '../../../../search/query/compare-text.js';
import type { ArmPlace } from '../../../plan/cursor.js';
import { VERSION_AND_REFERENCES } from '../../bson/stored-version.js';
import { armsWalk } from '../arms.js';
import { restOf } from '../compile/compile.js';
import type { Hit, Hits, HitWalk } from '../hit.js';
import { entryAccess } from '../plan/access.js';
import type { PlannedLink } from '../plan/plan.js';
import type { Scope } from '../scope.js';
import { KEYS, pageOf, projectionOf, type Reading } from '../walks.js';
import { placed, type Follow, type LinkPlace, type Outer } from './follow.js';
import { referencesIn, toKey, typeOfPlace, type Need } from './candidate.js';
import { candidatesOf } from './filter-links.js';
import type { LinkDriver } from './link-driver.js';

type SomeSides = LinkDriver['sides'];

/** Returns how a chain is followed: each resource of the other side opens a range of references. */
export function followChain(
  rest: Scope,
  link: Extract<PlannedLink, { chain: unknown }>,
  sides: SomeSides,
  reading: Reading,
): Follow {
  const { links, type } = rest;
  const { param } = link;
  const isPage = reading === 'versions' && !rest.isLinked;
  const need: Need = reading === 'versions' ? KEYS : reading;
  const projection = isPage ? VERSION_AND_REFERENCES : projectionOf(rest, { ...need, params: [...need.params, param] });
  return async (gathering, target, outers, inner) => {
    const { hits, wanted } = gathering;
    const walkFrom = (some: readonly Outer[]): HitWalk<ArmPlace> => {
      const values = some.map(({ candidate }) => candidate.key);
      const { arms } = entryAccess(type, 'reference', param, { values });
      return armsWalk(links, arms, restOf(rest.conjuncts), projection);
    };
    const take = async (some: readonly Outer[], found: Hits): Promise<void> => {
      gathering.rows -= found.hits.length;
      const places = new Map(some.map((outer, i) => [outer.candidate.key, i]));
      const shown = await firstOf(rest, link, sides, target, places, found.hits);
      const ordered = shown.map((hit) => ({ hit, inner: hit.place!.at[0] as readonly string[] })).map((each) => ({ ...each, at: places.get(each.inner[0]!)! })); // prettier-ignore
      ordered.sort((a, b) => a.at - b.at || compareText(a.inner[0]!, b.inner[0]!) || compareText(a.hit.key, b.hit.key));
      for (const { hit, inner: own, at } of ordered) hits.push(placed(hit, some[at]!, target, own));
    };
    let together = inner === undefined ? links.limits.sides.together : 1;
    for (let at = 0; at < outers.length && hits.length < wanted;) {
      const some = outers.slice(at, at + together);
      const walk = walkFrom(some);
      if (some.length > 1) {
        const found = await pageOf(rest, walk, undefined, wanted - hits.length + 10, gathering.rows);
        if (found === undefined) return false;
        // Together they lead to more than is wanted: one has enough, and they come in its order.
        if (found.isOver) await take(some, found);
        at += found.isOver ? some.length : 0;
        together = found.isOver ? Math.min(4 * together, links.limits.sides.most) : 1;
      } else {
        let place = inner === undefined || at > 0 ? undefined : inOnlyArm(inner);
        for (let isOver = false; !isOver && hits.length < wanted && gathering.rows >= 0;) {
          const found = await pageOf(rest, walk, place, wanted - hits.length, gathering.rows);
          if (found === undefined) return false;
          await take(some, found);
          isOver = found.isOver;
          const last = found.hits.at(-1);
          if (last !== undefined) place = walk.placeOf(last);
        }
        at++;
        together = links.limits.sides.together;
      }
      if (gathering.rows < 0) return false;
    }
    return true;
  };
}

/** A place in the only arm of a walk. */
function inOnlyArm(inner: LinkPlace['inner']): ArmPlace {
  return { arm: [0, 1, ''], at: [inner] };
}

/**
 * Of several references of a resource the first counts that leads to what is looked for, by type and then as text. Those of which no other
 * does.
 *
 * @param places keys of the other side by which they were found
 */
async function firstOf(
  { links }: Scope,
  { param }: Extract<PlannedLink, { chain: unknown }>,
  sides: SomeSides,
  target: number,
  places: ReadonlyMap<string, number>,
  hits: readonly Hit[],
): Promise<readonly Hit[]> {
  const types = sides.map((side) => side?.scope.type);
  const lesser = hits.map(({ bytes, place }) => {
    const own = String(place!.at[0]![0]);
    return referencesIn(bytes).flatMap((row) => {
      const type = row.p === param ? typeOfPlace(row) : undefined;
      const of = type === undefined ? -1 : types.indexOf(type);
      const key = `${type}/${row.id}`;
      const isBefore = of >= 0 && (of < target || (of === target && compareText(row.to!, own) < 0 && !places.has(key)));
      return isBefore ? [key] : [];
    });
  });
  const asked = new Set(lesser.flat());
  const good = new Set<string>();
  for (const side of asked.size === 0 ? [] : sides) {
    if (side === undefined) continue;
    const { type, plan } = side.scope;
    const keys = [...asked].filter((key) => toKey(key).type === type);
    for (const { key } of await candidatesOf(links, type, plan, keys, { isTrying: false })) good.add(key);
  }
  return hits.filter((_, i) => !lesser[i]!.some((key) => good.has(key)));
}
