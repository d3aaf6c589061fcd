import { append } from '../fhir/lists.js';
import type { Condition } from '../search/query/query.js';
import type { Store, StoredVersion } from '../store/store.js';
import type { Matches, WriteView } from './write/write-plan.js';

/** Resources that one query asks for. */
const PAGE = 500;

/** The store as it is: what a request of its own looks at. */
export function storeView(store: Pick<Store, 'read' | 'find'>): WriteView {
  return {
    isStore: true,
    read: (type, id) => store.read(type, id),
    match: (type, where, most) => match(store, type, where, most),
    finds: (type, where) => findsAny(match(store, type, where, 1)),
  };
}

/** `WriteView.finds` by a match of one. */
export async function findsAny(match: Promise<Matches>): ReturnType<WriteView['finds']> {
  const { found, precondition } = await match;
  return { isAny: found.length > 0, precondition };
}

/** Page by page: a page of large resources may have fewer than it was asked for. */
async function match(store: Pick<Store, 'find'>, type: string, where: Condition, most: number): Promise<Matches> {
  const found: StoredVersion[] = [];
  for (let after: string | undefined; ;) {
    const count = Math.min(PAGE, most - found.length);
    const query = { type, where, sort: [], count, total: 'none' as const };
    const page = await store.find(after === undefined ? query : { ...query, after });
    append(found, page.versions);
    after = page.next;
    if (after === undefined || found.length >= most) break;
  }
  return { found, precondition: { type, where, found: found.map(({ id }) => id) } };
}
