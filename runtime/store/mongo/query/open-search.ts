import { conditionText } from '../../condition-text.js';
import type { FindQuery } from '../../store.js';
import type { Snapshot } from '../read/snapshot.js';
import { openAsk, type Ask } from './ask.js';
import type { Choice } from './plan/choose.js';
import { chooseSettled } from './plan/settle-unions.js';
import { compile, type Conjunct, type Way } from './compile/compile.js';
import type { FindCursor } from './cursor.js';
import { LISTED_AT_ONCE, listKeys, listMatches, listWay, overlapWay } from './list.js';
import type { Order } from './compile/order.js';
import { askedFor, type Plan } from './plan/plan.js';
import type { Probes } from './plan/probe.js';

/** A search while it is done. */
export interface Search {
  readonly snapshot: Snapshot;
  readonly probes: Probes;
  readonly ask: Ask;
  /** What it looks for, as text that no other has. */
  readonly name: string;
  readonly type: string;
  readonly order: Order;
  readonly after: FindCursor | undefined;
  readonly conjuncts: readonly Conjunct[];
  readonly choice: Choice;
  /** The `_id` of all that matches, in the order of the search, where that was found out. */
  readonly listed?: readonly string[];
}

/** What is looked for: of a query, with a plan that has no links. */
export interface Sought extends Pick<FindQuery, 'type' | 'count' | 'total' | 'base'> {
  readonly where: Plan;
}

/** @param after the cursor, read for this order */
export async function openSearch(
  snapshot: Snapshot,
  probes: Probes,
  { type, where, count, total }: Sought,
  order: Order,
  after: FindCursor | undefined,
  ask: Ask = openAsk(snapshot),
): Promise<Search> {
  const conjuncts = compile(type, where);
  const name = nameOf(type, where);
  const rest = { snapshot, probes, ask, name, type, order, after, conjuncts };
  const all = listWay(conjuncts, order);
  if (all !== undefined && !probes.isLong(`list ${name}`)) {
    const listed = await listKeys(ask, all, order);
    if (listed !== undefined) return { ...rest, listed, choice: chosen(all, listed.length) };
    probes.noteLong(`list ${name}`, true);
  }
  const isListed = total !== 'none' && after === undefined;
  const [only] = conjuncts;
  const [way] = only?.accesses ?? [];
  const isOrdered = only?.accesses.length === 1 && way?.isOrdered === true;
  // One value in the order of ids: there is nothing to choose.
  if (only !== undefined && way !== undefined && isOrdered && isPlain(conjuncts, order)) {
    // Most of what is named is there.
    const matches = way.index === '_id_' ? way.size : 0;
    const best = { way: { access: way, conjunct: only }, matches, isMore: true };
    return { ...rest, choice: { best, isShort: false, probed: [] } };
  }
  const overlap = isListed ? overlapWay(conjuncts, order) : undefined;
  if (overlap !== undefined && !probes.isLong(`list ${name}`)) {
    const listed = await listMatches(ask, type, conjuncts, overlap, order, LISTED_AT_ONCE);
    if (listed !== undefined) return { ...rest, listed, choice: chosen(overlap, listed.length) };
    probes.noteLong(`list ${name}`, true);
  }
  const settled = await chooseSettled(snapshot, probes, ask, type, conjuncts);
  const { best, isShort } = settled.choice;
  if (!isListed || !isShort || order.by !== 'id') return { ...rest, ...settled };
  // More than a page, of which the order is not that of ids: looked through once, for the page and its total.
  if (best === undefined || best.matches <= count || best.way.access.isOrdered) return { ...rest, ...settled };
  const listed = await listMatches(ask, type, settled.conjuncts, best.way, order);
  return { ...rest, ...settled, ...(listed !== undefined && { listed }) };
}

/** A search as text that no other has. */
export function nameOf(type: string, where: Plan): string {
  return `${type} ${conditionText(askedFor(where))}`;
}

function chosen(way: Way, matches: number): Choice {
  const best = { way, matches, isMore: false };
  return { best, isShort: true, probed: [best] };
}

function isPlain(conjuncts: readonly Conjunct[], order: Order): boolean {
  return conjuncts.length === 1 && order.by === 'id';
}
