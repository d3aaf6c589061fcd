import { openSearch, type Search } from '../open-search.js';
import { findPage } from '../page.js';
import type { FindCursor } from '../cursor.js';
import { valuesOf, type Order } from '../compile/order.js';
import type { Match } from '../orders/match.js';
import { hasLinks, relax, type Plan } from '../plan/plan.js';
import { candidateProjection, needOf, toHeld } from './held.js';
import { TooFar } from './asked.js';
import { hold } from './hold.js';
import type { Links } from './links.js';
import { settleFurther } from './reduce.js';

/** A search of which the links are answered for some candidates at a time. */
export interface Walk {
  readonly links: Links;
  readonly type: string;
  readonly plan: Plan;
  readonly order: Order;
  readonly after: FindCursor | undefined;
}

/** What came of a walk so far. */
export interface Piece {
  readonly matches: readonly Match[];
  /** What the walk began with. */
  readonly driving: () => string;
  /** The plan as far as it is known. */
  readonly plan: Plan;
}

/** What fulfils a plan, in the order of the search, piece by piece. */
export async function* walkMatches(
  { links, type, plan: first, order, after }: Walk,
  wanted: number,
): AsyncGenerator<Piece> {
  const { tried, pieces, sortedPieces } = links.limits;
  const sizes = order.by === 'computed' ? sortedPieces : pieces;
  let plan = first;
  let search = await openCandidates(links, type, plan, order);
  let [cursor, walked, isTrying] = [after, 0, true];
  for (let n = 0; ; n++) {
    const size = Math.max(sizes[Math.min(n, sizes.length - 1)]!, n === 0 ? wanted : 0);
    const { batch, driving } = await findPage({ ...search, after: cursor }, size);
    const held = batch.documents.map(toHeld);
    let kept: ReadonlySet<string> | undefined;
    try {
      kept = new Set((await hold(links, type, plan, held, { isTrying })).map(({ key }) => key));
    } catch (error) {
      if (!(error instanceof TooFar)) throw error;
    }
    if (kept !== undefined) {
      const found = held.flatMap(({ key }, i) => (kept.has(key) ? [[key, batch.documents[i]!] as const] : []));
      yield { matches: found.map(([key, bytes]) => ({ key, values: valuesOf(bytes, order) })), driving, plan };
      const [last, bytes] = [held.at(-1), batch.documents.at(-1)];
      if (last === undefined || bytes === undefined || (batch.documents.length < size && !batch.isCut)) return;
      cursor = { id: last.key.slice(type.length + 1), values: valuesOf(bytes, order) };
      walked += held.length;
    }
    if (isTrying && (kept === undefined || walked >= tried)) {
      isTrying = false;
      plan = await settleFurther(links, type, plan);
      search = await openCandidates(links, type, plan, order);
    }
  }
}

/** The search for what may fulfil a plan. */
export function openCandidates(
  { snapshot, probes, ask }: Links,
  type: string,
  plan: Plan,
  order: Order,
): Promise<Search> {
  const reading = hasLinks(plan) ? ask.reading(candidateProjection(needOf(plan))) : ask.reading(candidateProjection({ params: [], names: false })); // prettier-ignore
  return openSearch(snapshot, probes, { type, where: relax(plan), count: 0, total: 'none' }, order, undefined, reading);
}
