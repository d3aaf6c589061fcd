import { BSON, type Document } from 'mongodb';

import { printSort } from '../../../search/query/print.js';
import type { Explanation, FindQuery } from '../../store.js';
import { readCursor } from '../../plan/cursor.js';
import { explainPlan } from '../../plan/explain.js';
import { translateMongoError } from '../mongo-errors.js';
import type { QueryLimits, Snapshot } from '../read/snapshot.js';
import { openAsk, type Sent } from './ask.js';
import { namesOfRest } from './compile/compile.js';
import { askedOrder } from './compile/order.js';
import type { AnyDriver } from './links/link-driver.js';
import { openLinks } from './links/links.js';
import { readPageVersions } from './links/page-versions.js';
import { resolvedScope } from './links/resolve.js';
import type { FindParts } from './parts.js';
import { isKeyOf, sortOf } from './places.js';
import { runSearch } from './run-search.js';
import type { Scope } from './scope.js';
import { findHits, type FoundPage } from './search.js';

/** Does a search, and has the server tell how it does each of its commands. */
export function openExplain(parts: FindParts): (query: FindQuery, limits: QueryLimits) => Promise<Explanation> {
  const { snapshots, turns } = parts;
  return async (query, limits) => {
    const order = askedOrder(query, parts.slotOf);
    const cursor = query.after === undefined ? undefined : readCursor(query.after, sortOf(order), isKeyOf(query.type));
    try {
      return await runSearch(snapshots, turns, query, limits, async (snapshot) => {
        const ask = openAsk(snapshot);
        const links = openLinks(parts, ask);
        const scope = await resolvedScope(links, query.type, query.where, order !== undefined);
        const search = { scope, order, reading: 'versions', isExplained: true } as const;
        const found = await findHits(search, cursor?.place, query.count + 1);
        await readPageVersions(links, query.type, found.hits, found.isRead);
        const explained = await Promise.all(ask.sent.map((sent) => explainOne(snapshot, sent)));
        return {
          compiled: ask.sent.map((sent) => BSON.EJSON.stringify(sent, { relaxed: true })),
          ...explainFound(found, scope, query),
          probes: links.probed.map(({ condition, count, limit }) => ({
            condition: condition(),
            matches: Math.min(count, limit),
            isMore: count > limit,
          })),
          indexes: [...new Set(explained.flatMap(({ indexes }) => indexes))],
          examined: explained.reduce((sum, { examined }) => sum + examined, 0),
          returned: Math.min(found.hits.length, query.count),
        };
      });
    } catch (error) {
      throw translateMongoError(error);
    }
  };
}

function explainFound({ plan }: FoundPage, { conjuncts }: Scope, { type, sort, count }: FindQuery) {
  const { request } = plan;
  const from = request.ask === 'walk' ? request.by : request.from;
  return explainPlan(plan, {
    type,
    order: printSort(sort),
    conditionOf: (driver: AnyDriver) => (driver.isFar ? driver.name() : driver.conjunct.name()),
    filters:
      typeof from === 'object' && from.isFar
        ? namesOfRest(from.rest.conjuncts)
        : namesOfRest(conjuncts, typeof from === 'object' && from.isExact ? from.conjunct : undefined),
    wanted: count + 1,
  });
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
