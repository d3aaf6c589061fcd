import { isContainedType } from '../../contained-resources.js';
import { readCursor, writeCursor, type FindCursor, type CursorPlace } from '../../plan/cursor.js';
import type { FindPage, FindQuery } from '../../store.js';
import type { Raw } from '../bson/bson.js';
import { VERSION_AND_REFERENCES, VERSION_ONLY } from '../bson/stored-version.js';
import { isSnapshotGone, tooCostly, translateMongoError } from '../mongo-errors.js';
import type { ClusterTime } from '../read/batch.js';
import type { QueryLimits, Snapshot } from '../read/snapshot.js';
import { completeOf } from '../write/complete.js';
import { openAsk } from './ask.js';
import { askedOrder, type Order } from './compile/order.js';
import type { Hit } from './hit.js';
import { include } from './links/includes.js';
import { openLinks } from './links/links.js';
import { readPageVersions } from './links/page-versions.js';
import { resolvedScope } from './links/resolve.js';
import type { FindParts } from './parts.js';
import { isKeyOf, placeBehind, sortOf } from './places.js';
import { runSearch } from './run-search.js';
import type { Scope } from './scope.js';
import { findHits, type FoundPage, type Search } from './search.js';
import { countAll, countCheaply } from './total.js';

/** Finds pages of current resources. */
export function openFind(parts: FindParts): (query: FindQuery, limits: QueryLimits) => Promise<FindPage> {
  const { snapshots, turns, now } = parts;

  async function page(
    query: FindQuery,
    order: Order | undefined,
    cursor: FindCursor<string> | undefined,
    snapshot: Snapshot,
  ): Promise<FindPage> {
    const ask = openAsk(snapshot);
    const projection = followsReferences(query) ? VERSION_AND_REFERENCES : VERSION_ONLY;
    const links = openLinks(parts, ask, projection);
    const scope = await resolvedScope(links, query.type, query.where, order !== undefined);
    const search: Search = { scope, order, reading: 'versions' };
    const { versions, documents, last, source, known } = await readPage(search, query, cursor?.place);
    const total = await totalOf(scope, query, cursor, last === undefined ? versions.length : undefined, known);
    const counted = total === undefined ? {} : { total };
    const complete = await completeOf(snapshot, now);
    const included =
      query.include === undefined
        ? {}
        : await include(query.include, { versions, documents }, { snapshot, ask, parts });
    const shown = { versions, complete, moment: writeMoment(await snapshot.time()), ...included, ...counted };
    if (last === undefined) return shown;
    return { ...shown, next: writeCursor(source, last, total) };
  }

  return async (query, limits) => {
    const order = askedOrder(query, parts.slotOf);
    const cursor = query.after === undefined ? undefined : readCursor(query.after, sortOf(order), isKeyOf(query.type));
    try {
      const at = query.moment === undefined ? undefined : readMoment(query.moment);
      return await runSearch(snapshots, turns, query, limits, (snapshot) => page(query, order, cursor, snapshot), at);
    } catch (error) {
      throw isSnapshotGone(error) ? tooCostly() : translateMongoError(error);
    }
  };
}

function writeMoment({ seconds, increment }: ClusterTime): string {
  return `${seconds}.${increment}`;
}

function readMoment(text: string): ClusterTime {
  const [seconds = 0, increment = 0] = text.split('.').map(Number);
  return { seconds, increment };
}

/** Whether references of what is found are followed; what is within resources is found without theirs. */
function followsReferences({ type, include }: FindQuery): boolean {
  return !isContainedType(type) && include?.directives.some(({ isReverse }) => !isReverse) === true;
}

interface Page extends Pick<FindPage, 'versions'> {
  /** Those that hold them. */
  readonly documents: readonly Raw[];
  /** The last resource shown; absent: there are no more behind it. */
  readonly last?: Hit;
  readonly source: FoundPage['source'];
  /** How many match, where that came to light. */
  readonly known?: number | undefined;
}

/** Reads a page. Where all that it would have is left out, the next takes its place. */
async function readPage(
  search: Search,
  { type, count }: FindQuery,
  from: CursorPlace<string> | undefined,
): Promise<Page> {
  if (count === 0) return { versions: [], documents: [], source: 'type' };
  for (let at = from; ;) {
    const found = await findHits(search, at, count + 1);
    const { hits, isOver, source, total: known } = found;
    const shown = hits.slice(0, count);
    const { versions, documents, passed } = await readPageVersions(search.scope.links, type, shown, found.isRead);
    const last = shown[passed - 1];
    const hasMore = last !== undefined && (!isOver || hits.length > passed);
    if (versions.length > 0 || !hasMore) {
      return { versions, documents, source, known, ...(hasMore && { last }) };
    }
    at = placeBehind(source, last);
  }
}

/** Returns the total of the first page, which each page has. @param all how many there are, where they are all on it */
async function totalOf(
  scope: Scope,
  { total, count }: FindQuery,
  cursor: FindCursor<string> | undefined,
  all: number | undefined,
  known: number | undefined,
): Promise<number | undefined> {
  if (cursor !== undefined) return cursor.total;
  if (total === 'none') return undefined;
  if (count > 0 && all !== undefined) return all;
  if (known !== undefined) return known;
  return total === 'accurate' ? countAll(scope) : countCheaply(scope);
}
