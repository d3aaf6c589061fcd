import type { Snapshot } from '../../read/snapshot.js';
import { idAccess } from './access.js';
import type { Ask } from '../ask.js';
import { choose, type Choice } from './choose.js';
import type { Conjunct } from '../compile/compile.js';
import { listMatches } from '../list.js';
import type { Probes } from './probe.js';

/** The conditions of a search, and the best way into them. */
export interface Settled {
  readonly conjuncts: readonly Conjunct[];
  readonly choice: Choice;
}

/**
 * Chooses a way. Where none is short, but some condition is one of several with a short way each, by different indexes, what
 * fulfils it is listed: its ids are a short way. So is who refers to a resource, or is that resource.
 */
export async function chooseSettled(
  snapshot: Snapshot,
  probes: Probes,
  ask: Ask,
  type: string,
  conjuncts: readonly Conjunct[],
): Promise<Settled> {
  const choice = await choose(snapshot, probes, conjuncts);
  if (choice.isShort) return { conjuncts, choice };
  for (const [place, conjunct] of conjuncts.entries()) {
    const keys = await keysOf(snapshot, probes, ask, type, conjunct);
    if (keys === undefined) continue;
    const ids = keys.map((key) => key.slice(type.length + 1));
    const filter = { _id: { $in: [...keys] } };
    const settled = conjuncts.with(place, { filter, accesses: [idAccess(type, ids)], name: conjunct.name });
    return { conjuncts: settled, choice: await choose(snapshot, probes, settled) };
  }
  return { conjuncts, choice };
}

/** The `_id` of all that fulfils one of the alternatives of a condition; undefined: it has none, or that is too much. */
async function keysOf(
  snapshot: Snapshot,
  probes: Probes,
  ask: Ask,
  type: string,
  { alternatives = [], name }: Conjunct,
): Promise<readonly string[] | undefined> {
  if (alternatives.length === 0) return undefined;
  const choices = await Promise.all(alternatives.map((one) => choose(snapshot, probes, [{ ...one, name }])));
  const ways = choices.flatMap(({ best, isShort }) => (best !== undefined && isShort ? [best.way] : []));
  if (ways.length < alternatives.length) return undefined;
  const found = new Set<string>();
  for (const way of ways) {
    const keys = await listMatches(ask, type, [way.conjunct], way, { idSign: 1 });
    if (keys === undefined) return undefined;
    for (const key of keys) found.add(key);
  }
  return [...found].sort();
}
