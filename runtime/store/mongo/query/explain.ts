import { BSON, type Document } from 'mongodb';

import type { Explanation, FindQuery } from '../../store.js';
import { openFinder } from './links/finder.js';
import { translateMongoError } from '../mongo-errors.js';
import type { QueryLimits, Snapshot } from '../read/snapshot.js';
import type { Sent } from './ask.js';
import { openKnownOrders } from './orders/known-orders.js';
import type { FindParts } from './parts.js';
import { readFindCursor } from './cursor.js';
import { toOrder } from './compile/order.js';
import { runSearch } from './run-search.js';

/** Does a search, and has the server tell how it does each of its commands. */
export function openExplain(parts: FindParts): (query: FindQuery, limits: QueryLimits) => Promise<Explanation> {
  const { snapshots, turns, slotOf, now } = parts;
  return async (query, limits) => {
    const order = toOrder(query.type, query.sort, slotOf);
    const after = query.after === undefined ? undefined : readFindCursor(query.after, order);
    try {
      return await runSearch(snapshots, turns, query, limits, async (snapshot) => {
        // It is to tell what a search does of which nothing is known.
        const anew = { ...parts, orders: openKnownOrders(now) };
        const finder = await openFinder(snapshot, anew, query, order, after);
        const { ask, probed } = finder;
        const { documents, driving } = await finder.page(query.count + 1);
        const explained = await Promise.all(ask.sent.map((sent) => explainOne(snapshot, sent)));
        return {
          compiled: ask.sent.map((sent) => BSON.EJSON.stringify(sent, { relaxed: true })),
          driving: driving(),
          probes: probed.map(({ way, matches, isMore }) => ({
            condition: way.conjunct.name(),
            matches,
            isMore,
          })),
          indexes: [...new Set(explained.flatMap(({ indexes }) => indexes))],
          examined: explained.reduce((sum, { examined }) => sum + examined, 0),
          returned: Math.min(documents.length, query.count),
        };
      });
    } catch (error) {
      throw translateMongoError(error);
    }
  };
}

interface Explained {
  readonly indexes: readonly string[];
  /** Keys of indexes, and documents. */
  readonly examined: number;
}

async function explainOne(snapshot: Snapshot, sent: Sent): Promise<Explained> {
  const plan = await snapshot.explain('aggregate' in sent ? { ...sent, cursor: {} } : sent);
  const [first] = (plan['stages'] as Document[] | undefined) ?? [];
  const stats = ((first?.['$cursor'] as Document | undefined) ?? plan)['executionStats'] as Document;
  const examined = Number(stats['totalKeysExamined']) + Number(stats['totalDocsExamined']);
  return { indexes: indexesIn(stats['executionStages'] as Document), examined };
}

function indexesIn(stage: Document): string[] {
  const {
    indexName,
    inputStage,
    inputStages = [],
  } = stage as {
    indexName?: string;
    inputStage?: Document;
    inputStages?: Document[];
  };
  const below = [...(inputStage === undefined ? [] : [inputStage]), ...inputStages].flatMap(indexesIn);
  return indexName === undefined ? below : [indexName, ...below];
}
