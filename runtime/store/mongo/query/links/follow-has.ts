import { compareText } from '../../../../search/query/compare-text.js';
import { armsWalk } from '../arms.js';
import { restOf } from '../compile/compile.js';
import { idAccess } from '../plan/access.js';
import type { PlannedLink } from '../plan/plan.js';
import type { Scope } from '../scope.js';
import { allOf, projectionOf, type Reading } from '../walks.js';
import { placed, type Follow, type Outer } from './follow.js';
import { isReferred, referred } from './filter-by-has.js';
import { toKey, typeOfPlace, type Candidate } from './candidate.js';
import { TARGETS } from './filter-links.js';
import type { AnyDriver, Side } from './link-driver.js';

/** One that some of the other side refer to, and the first of these by its key. */
interface Met {
  readonly key: string;
  readonly outer: Outer;
}

/** Returns how `_has` is followed: each resource of the other side refers to some. Of several that refer to the same the one with the first key counts. */
export function followHas(
  rest: Scope,
  { has }: Extract<PlannedLink, { has: unknown }>,
  side: Side | undefined,
  reading: Reading,
  from: string | undefined,
): Follow {
  const { links, type } = rest;
  const isByKey = side !== undefined && isInOrderOfKeys(side.driver);
  const asked = TARGETS.toTargetFilter(links, has.type, has.where, { params: [has.param], names: false });
  const seen = new Set<string>();
  const projection = projectionOf(rest, reading);

  /** Those that another refers to, with a key before the one by which they were met, so that they are shown there. */
  async function shownBefore(met: readonly Met[]): Promise<ReadonlySet<string>> {
    if (isByKey) {
      // What comes in the order of keys was seen on this page, or on an earlier one.
      if (from === undefined) return new Set();
      return referred(links, has, asked, met.map(({ key }) => key), { isTrying: false }, from); // prettier-ignore
    }
    const isBefore = ({ key, outer }: Met): Promise<boolean> =>
      isReferred(links, has, asked, key, { isTrying: false }, outer.candidate.key);
    const each = await Promise.all(met.map(isBefore));
    return new Set(met.flatMap(({ key }, i) => (each[i] === true ? [key] : [])));
  }

  return async (gathering, _target, outers, inner) => {
    const { hits, wanted } = gathering;
    const met = new Map<string, number>();
    for (const [at, { candidate }] of outers.entries()) {
      for (const key of targetsOf(candidate)) {
        const before = met.get(key);
        if (before === undefined || compareText(candidate.key, outers[before]!.candidate.key) < 0) met.set(key, at);
      }
    }
    const open = [...met].filter(([key]) => !(isByKey && seen.has(key)) && (inner === undefined || compareText(key, inner[0]!) > 0)); // prettier-ignore
    for (const key of met.keys()) seen.add(key);
    open.sort(([a, left], [b, right]) => left - right || compareText(a, b));
    for (let at = 0; at < open.length && hits.length < wanted;) {
      const some = open.slice(at, at + 2 * (wanted - hits.length)).map(([key, place]) => ({ key, outer: outers[place]! })); // prettier-ignore
      at += some.length;
      const ids = some.map(({ key }) => toKey(key).id);
      const walk = armsWalk(links, idAccess(type, ids).arms, restOf(rest.conjuncts), projection);
      const found = await allOf(rest, walk);
      gathering.rows -= some.length;
      if (found === undefined || gathering.rows < 0) return false;
      const byKey = new Map(found.map((hit) => [hit.key, hit]));
      const there = some.filter(({ key }) => byKey.has(key));
      const others = await shownBefore(there);
      for (const { key, outer } of there) if (!others.has(key)) hits.push(placed(byKey.get(key)!, outer, 0, [key]));
    }
    return true;
  };

  function targetsOf({ references }: Candidate): readonly string[] {
    const keys = references.flatMap((row) => (row.p === has.param && typeOfPlace(row) === type ? [`${type}/${row.id}`] : [])); // prettier-ignore
    return [...new Set(keys)].sort(compareText);
  }
}

/** Rows of one value are in the order of keys. */
function isInOrderOfKeys(driver: AnyDriver): boolean {
  if (driver.isFar) return false;
  const [arm, ...others] = driver.arms;
  if (arm === undefined || others.length > 0 || !('values' in arm.keys)) return false;
  return arm.index === '_id_' || arm.keys.values.length === 1;
}
