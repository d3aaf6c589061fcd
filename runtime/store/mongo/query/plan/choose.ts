import type { Snapshot } from '../../read/snapshot.js';
import { waysInto, type Conjunct, type Way } from '../compile/compile.js';
import type { Probed, Probes } from './probe.js';

/** Few enough that looking further for fewer does not pay. */
const FEW = 100;

/** Up to so many are simply collected. */
export const COLLECTED = 1000;

/** Limits tried in turn if all access paths are longer: the chosen path is at most a few times as long as the shortest. */
const FURTHER = [3000, 10_000, 30_000, 100_000, 300_000, 1_000_000];

/** Most access paths compared in one search: each count is a command, and other requests need the connections too. */
const MOST_WAYS = 400;

/** What was found out about a way. */
export interface ProbedWay extends Probed {
  readonly way: Way;
}

/** The best way into a query. */
export interface Choice {
  /** Absent: there is none but through all of the type. */
  readonly best?: ProbedWay;
  /** Whether the best way is known to be short: at most `COLLECTED`. */
  readonly isShort: boolean;
  readonly probed: readonly ProbedWay[];
}

/** Chooses by counting the entries of each access path, so the order in which the conditions are written does not matter. */
export async function choose(snapshot: Snapshot, probes: Probes, conjuncts: readonly Conjunct[]): Promise<Choice> {
  const ways = waysToCount(conjuncts);
  if (ways.length === 0) return { isShort: false, probed: [] };
  // Where there is one only, whether it is short is all there is to know.
  const quick = await probeAll(snapshot, probes, ways, ways.length === 1 ? COLLECTED : FEW);
  const probed = quick.some(({ isMore }) => !isMore) ? quick : await probeAll(snapshot, probes, ways, COLLECTED);
  const best = shortest(probed);
  return { best, isShort: !best.isMore, probed };
}

/**
 * The ways into a query that are worth counting: each once, however many conditions lead to it, and of very many (a posted search
 * may have 20,000 conditions) some, the same however the conditions are written.
 */
export function waysToCount(conjuncts: readonly Conjunct[]): readonly Way[] {
  const ways = waysInto(conjuncts);
  if (ways.length <= 1) return ways;
  const byName = new Map<string, Way>();
  for (const way of ways) {
    const name = nameOf(way);
    if (!byName.has(name)) byName.set(name, way);
  }
  if (byName.size <= MOST_WAYS) return [...byName.values()];
  const names = [...byName.keys()].sort().slice(0, MOST_WAYS);
  return names.map((name) => byName.get(name)!);
}

/** The best of several long ways, looked at further, but no further than this; where there is one only, that one. */
export async function chooseFurther(
  snapshot: Snapshot,
  probes: Probes,
  { best, isShort, probed }: Choice,
  furthest = Infinity,
): Promise<ProbedWay | undefined> {
  if (best === undefined || isShort || probed.length <= 1) return best;
  let last = best;
  for (const limit of FURTHER.filter((each) => each <= furthest)) {
    last = shortest(
      await probeAll(
        snapshot,
        probes,
        probed.map(({ way }) => way),
        limit,
      ),
    );
    if (!last.isMore) break;
  }
  return last;
}

/** Counts the entries of each access path. */
export async function probeAll(
  snapshot: Snapshot,
  probes: Probes,
  ways: readonly Way[],
  limit: number,
): Promise<ProbedWay[]> {
  return Promise.all(ways.map(async (way) => ({ way, ...(await probes.count(snapshot, way.access, limit)) })));
}

/** Of equally long ones those in the order of ids, then by where they begin, so that the order of writing does not matter. */
export function shortest(probed: readonly ProbedWay[]): ProbedWay {
  return probed.reduce((a, b) => (compare(b, a) < 0 ? b : a));
}

function compare(a: ProbedWay, b: ProbedWay): number {
  return (
    Number(a.isMore) - Number(b.isMore) ||
    a.matches - b.matches ||
    Number(b.way.access.isOrdered) - Number(a.way.access.isOrdered) ||
    (nameOf(a.way) < nameOf(b.way) ? -1 : 1)
  );
}

function nameOf({ access }: Way): string {
  return `${access.index} ${JSON.stringify(access.stretches)} ${access.size}`;
}
