import { partsOf, type Path } from '../../plan/cursor.js';
import type { Source } from '../../plan/choose.js';
import type { Snapshot } from '../read/snapshot.js';
import type { Conjunct } from './compile/compile.js';
import type { Way } from './compile/compiled.js';
import { allAccess, textOf, withValues, type Arm } from './plan/access.js';
import type { Probes } from './plan/probe.js';

/** A condition as ranges of indexes: what fulfils it is in some of them. */
export interface Driver extends Source {
  readonly isFar: false;
  readonly path: Path;
  readonly conjunct: Conjunct;
  readonly arms: readonly Arm[];
  /** Whether all that is in them fulfils it. */
  readonly isExact: boolean;
}

/** More ranges than this are not gone through one after the other. */
const MOST_ARMS = 16;

/** Most conditions that are compared in one search: each count is a command, and other requests need the connections too. */
const MOST_COMPARED = 400;

/** A mark in a path: the condition was asked for without its links, whose resources may be known by the next page. */
export const RELAXED = 1;

/** The means to count the rows of ranges. */
interface Counting {
  readonly snapshot: Snapshot;
  readonly probes: Probes;
  readonly limit: number;
}

type Count = (arms: readonly Arm[]) => Promise<number>;

type Chosen = Pick<Driver, 'path' | 'arms' | 'isExact' | 'count'>;

/** Returns the drivers of the conditions, each with its rows, counted up to a limit. */
export async function findDrivers(
  conjuncts: readonly Conjunct[],
  { snapshot, probes, limit }: Counting,
): Promise<readonly Driver[]> {
  // Many conditions may lead to the same.
  const counts = new Map<string, Promise<number>>();
  const count: Count = (arms) => {
    const name = arms.map(textOf).join();
    const counted = counts.get(name) ?? probes.count(snapshot, arms, limit);
    counts.set(name, counted);
    return counted;
  };
  // The same, however the conditions are written.
  const all = conjuncts.flatMap((conjunct, place) => (conjunct.ways.length === 0 ? [] : [{ conjunct, place }]));
  const some = all.length <= MOST_COMPARED ? all : all.toSorted((a, b) => (a.conjunct.name() < b.conjunct.name() ? -1 : 1)).slice(0, MOST_COMPARED); // prettier-ignore
  return Promise.all(
    some.map(async ({ conjunct, place }) => toDriver(conjunct, place, await cheapest(conjunct.ways, count))),
  );
}

/** Returns the driver of a search that has but one, with one way to it, so that nothing need be counted. */
export function onlyDriver(conjuncts: readonly Conjunct[]): Driver | undefined {
  const [place, ...others] = conjuncts.flatMap(({ ways }, i) => (ways.length === 0 ? [] : [i]));
  if (place === undefined || others.length > 0) return undefined;
  const chosen = sole(conjuncts[place]!.ways);
  const driver = chosen && toDriver(conjuncts[place]!, place, chosen);
  return driver?.isLazy === true ? driver : undefined;
}

function sole([way, ...others]: readonly Way[]): Chosen | undefined {
  if (way === undefined || others.length > 0) return undefined;
  if (!('any' in way)) return { ...direct(way), path: [0, 0] };
  const each = way.any.map(sole);
  const all = each.every((one) => one !== undefined) ? united(each) : undefined;
  return all && { ...all, path: [0, all.path] };
}

/** Returns the source with the fewest rows, as far as they were counted; undefined: there is none. */
export function fewestRows<S extends Source>(sources: readonly S[]): S | undefined {
  return sources.reduce<S | undefined>((a, b) => (a === undefined || b.count < a.count ? b : a), undefined);
}

/** Returns the driver for all of a type, by id: they are few, and each is asked for the conditions. */
export function typeDriver(type: string, count: number): Driver {
  const conjunct = { filter: {}, ways: [], name: () => `every ${type}` };
  const { arms } = allAccess(type);
  return { conjunct, arms, count, path: 'between', isExact: true, isLazy: true, isFar: false, repeats: false };
}

/** The driver that a page before had; undefined: there is none such. */
export function driverAgain(conjuncts: readonly Conjunct[], path: Path, type: string): Driver | undefined {
  if (path === 'between') return typeDriver(type, 0);
  const [place, how] = partsOf(path);
  const conjunct = typeof place === 'number' ? conjuncts[place] : undefined;
  const chosen = conjunct && how !== undefined ? again(conjunct.ways, how) : undefined;
  return conjunct && chosen && toDriver(conjunct, place as number, chosen);
}

function toDriver(conjunct: Conjunct, place: number, { path, arms, ...rest }: Chosen): Driver {
  const isLazy = arms.length <= MOST_ARMS;
  const own = conjunct.isRelaxed === true ? [place, path, RELAXED] : [place, path];
  return { ...rest, conjunct, arms, path: own, isLazy, isFar: false, repeats: false };
}

/** Returns the way with the fewest rows of some to the same resources. */
async function cheapest(ways: readonly Way[], count: Count): Promise<Chosen> {
  const each = await Promise.all(
    ways.map(async (way, i): Promise<Chosen> => {
      const chosen = 'any' in way ? united(await Promise.all(way.any.map((one) => cheapest(one, count)))) : direct(way); // prettier-ignore
      const rows = 'any' in way ? chosen.count : await count(chosen.arms);
      return { ...chosen, count: rows, path: [i, chosen.path] };
    }),
  );
  return each.reduce((a, b) => (b.count < a.count ? b : a));
}

/** Returns the way that a path names, without counting. */
function again(ways: readonly Way[], path: Path): Chosen | undefined {
  const [place, inner] = partsOf(path);
  const way = typeof place === 'number' ? ways[place] : undefined;
  const chosen = way && inner !== undefined ? chosenAgain(way, inner) : undefined;
  return chosen && { ...chosen, path };
}

function chosenAgain(way: Way, inner: Path): Chosen | undefined {
  if (!('any' in way)) return direct(way);
  const paths = partsOf(inner);
  const each = way.any.map((ways, i) => (paths[i] === undefined ? undefined : again(ways, paths[i])));
  return each.every((one) => one !== undefined) ? united(each) : undefined;
}

function direct({ arms, isExact = false }: Extract<Way, { arms: unknown }>): Chosen {
  return { path: 0, arms, isExact, count: 0 };
}

/** Returns the union of several ways. Values of one parameter become one arm, as one command finds them. */
function united(each: readonly Chosen[]): Chosen {
  const arms: Arm[] = [];
  for (const arm of each.flatMap((one) => one.arms)) {
    const place = arms.findIndex((other) => canJoin(other, arm));
    const same = arms[place];
    if (same === undefined) arms.push(arm);
    else if ('values' in same.keys && 'values' in arm.keys) {
      arms[place] = withValues(same, [...same.keys.values, ...arm.keys.values]);
    }
  }
  return {
    path: each.map(({ path }) => path),
    arms,
    isExact: each.every(({ isExact }) => isExact),
    count: each.reduce((sum, { count }) => sum + count, 0),
  };
}

function canJoin(one: Arm, other: Arm): boolean {
  if (!('values' in one.keys && 'values' in other.keys) || one.index !== other.index) return false;
  const [left, right] = [Object.values(one.begin), Object.values(other.begin)];
  return left.every((value, i) => value === right[i]);
}
