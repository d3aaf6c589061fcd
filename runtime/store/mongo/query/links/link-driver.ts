import { partsOf, type Path } from '../../../plan/cursor.js';
import type { Source } from '../../../plan/choose.js';
import { driverAgain, fewestRows, findDrivers, typeDriver, type Driver } from '../drivers.js';
import { allAccess } from '../plan/access.js';
import { conjunctsOf, isLink, printPlan, type Plan, type PlannedLink, type PlannedTarget } from '../plan/plan.js';
import { openScope, type Scope } from '../scope.js';
import { FEW_TYPES } from './filter-by-chain.js';
import type { Links } from './links.js';

/** A link, and what is at its other side: each resource there, as it comes, leads to others. */
export interface LinkDriver extends Source {
  readonly isFar: true;
  readonly path: Path;
  readonly name: () => string;
  readonly link: PlannedLink;
  /** What else is asked of what it leads to. */
  readonly rest: Scope;
  /** In the order of targets; undefined: there is nothing of its type. */
  readonly sides: readonly (Side | undefined)[];
}

/** A driver of either kind. */
export type AnyDriver = Driver | LinkDriver;

/** Resources at the other side of a link. */
export interface Side {
  readonly scope: Scope;
  readonly driver: AnyDriver;
}

/** Links whose other side an index finds, and whose references are places: a canonical may lead to several resources. */
async function findLinkDrivers(scope: Scope): Promise<readonly LinkDriver[]> {
  const links = conjunctsOf(scope.plan).flatMap((link, place) => (isLink(link) ? [{ link, place }] : []));
  const drivers = await Promise.all(
    links.map(async ({ link, place }) => {
      if (await hasCanonicals(scope, link)) return undefined;
      return toDriver(scope, place, link, (target) => sideOf(scope.links, target));
    }),
  );
  return drivers.filter((driver) => driver !== undefined);
}

/** The link that a page before was found by; undefined: it is none any more. */
export async function linkAgain(scope: Scope, [place, paths]: readonly Path[]): Promise<LinkDriver | undefined> {
  const at = -1 - Number(place);
  const now = conjunctsOf(scope.plan)[at];
  // What it leads to may be few by now.
  const link = now !== undefined && 'of' in now ? (now.of as Plan) : now;
  if (link === undefined || !isLink(link) || !Array.isArray(paths)) return undefined;
  return toDriver(scope, at, link, (target, i) => sideAgain(scope.links, target, (paths as readonly Path[])[i] ?? 0));
}

async function toDriver(
  scope: Scope,
  place: number,
  link: PlannedLink,
  open: (target: PlannedTarget, place: number) => Promise<Side | undefined>,
): Promise<LinkDriver | undefined> {
  const { links, type, plan } = scope;
  const targets = 'chain' in link ? link.chain : [link.has];
  const types = targets.length > 1 ? await links.types() : undefined;
  const there = targets.filter((target) => types?.has(target.type) !== false);
  if (there.length > FEW_TYPES) return undefined;
  const sides = await Promise.all(
    targets.map(async (target, i) => (there.includes(target) ? ((await open(target, i)) ?? 'unknown') : undefined)),
  );
  if (sides.includes('unknown')) return undefined;
  const known = sides as readonly (Side | undefined)[];
  return {
    count: Infinity,
    isLazy: true,
    isFar: true,
    repeats: false,
    path: [-1 - place, known.map((side) => side?.driver.path ?? 0)],
    name: () => printPlan(link),
    link,
    rest: openScope(links, type, { all: conjunctsOf(plan).toSpliced(place, 1) }),
    sides: known,
  };
}

async function hasCanonicals({ links, type }: Scope, link: PlannedLink): Promise<boolean> {
  if ('has' in link) return links.isNameable(type) && links.hasUrls(link.has.type, link.has.param);
  return link.chain.some((target) => links.isNameable(target.type)) && links.hasUrls(type, link.param);
}

/** Most resources of a type that are all looked at rather than found through links. */
const FEW_OF_TYPE = 100;

/** Returns the sources of a search, each with its rows, counted up to a limit. */
export async function sourcesOf(scope: Scope, limit: number): Promise<readonly AnyDriver[]> {
  const { conjuncts, links } = scope;
  const { snapshot, probes } = links;
  const near = await findDrivers(conjuncts, { snapshot, probes, limit });
  for (const { conjunct, count } of near) links.probed.push({ condition: conjunct.name, count, limit });
  const isFew = near.some(({ count }) => count <= limit);
  if (isFew || !scope.isLinked) return near;
  const most = Math.min(limit, FEW_OF_TYPE);
  const size = await probes.count(snapshot, allAccess(scope.type).arms, most);
  if (size <= most) return [...near, typeDriver(scope.type, size)];
  return [...near, ...(await findLinkDrivers(scope))];
}

/** Returns the resources at the other side of a link; undefined: no index finds them. */
async function sideOf(links: Links, { type, where }: PlannedTarget): Promise<Side | undefined> {
  const scope = openScope(links, type, where);
  const lazy = (await sourcesOf(scope, scope.limits.glance)).filter(({ isLazy }) => isLazy);
  const driver = fewestRows(lazy);
  return driver && { scope, driver };
}

async function sideAgain(links: Links, { type, where }: PlannedTarget, path: Path): Promise<Side | undefined> {
  const scope = openScope(links, type, where);
  const [place] = partsOf(path);
  const driver =
    typeof place === 'number' && place < 0
      ? await linkAgain(scope, partsOf(path))
      : driverAgain(scope.conjuncts, path, type);
  return driver && { scope, driver };
}
