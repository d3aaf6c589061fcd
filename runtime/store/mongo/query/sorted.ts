import { BSON, type Document } from 'mongodb';

import { append } from '../../../fhir/lists.js';
import type { Placed } from '../../plan/cursor.js';
import { fieldsOf, idOf, readValue } from '../bson/bson.js';
import { readHead } from '../bson/stored-version.js';
import type { Batch } from '../read/batch.js';
import { everyOf } from './compile/compile.js';
import { valuesOf, type Order } from './compile/order.js';
import { sortComputed } from './computed.js';
import type { Hits, Walk } from './hit.js';
import type { Links } from './links/links.js';
import { toCollected, toSegments, type Segment } from './plan/segments.js';

/** A walk looks at fewer documents that are asked for more than so many tests: the server looks at the clock once in 128 of them. */
const MANY_TESTS = 50;

/** Resources to be sorted: all of the type, or those that an index finds. */
export interface Sorted {
  readonly links: Pick<Links, 'ask' | 'probes'>;
  readonly type: string;
  readonly order: Order;
  /** What has to be fulfilled. */
  readonly filters: readonly Document[];
  readonly projection: Document;
}

/** All of the type that fulfils filters, by an index that has the order. */
export function orderWalk({ links, type, order, filters, projection }: Sorted): Walk<Placed<string>> {
  const { ask } = links;
  const share = Math.min(1, MANY_TESTS / testsIn(filters));
  return walkOf(order, async (after, wanted, rows) => {
    const segments = toSegments(type, order, after);
    return each(segments, wanted, async (segment, limit) => {
      const { filter, sort, hint, roughly } = segment;
      const read = (asked: Document, by: Document): Promise<Batch> =>
        ask.read({ filter: everyOf([asked, ...filters]), sort: by, hint, limit, projection });
      const end = rows === Infinity ? [] : await endOf(links, segment, Math.ceil(share * rows));
      const batch = await read(everyOf([filter, ...end]), roughly ?? sort);
      if (end.length > 0 && batch.documents.length < limit && !batch.isCut) return undefined;
      const last = batch.documents.at(-1);
      if (roughly === undefined || last === undefined) return batch;
      // Where what was found ends within one time, ids decide which of that time come: they are asked for again.
      const bound = { updated: { [roughly['updated'] === 1 ? '$lte' : '$gte']: new Date(readHead(last).updated) } };
      return read(everyOf([filter, bound]), sort);
    });
  });
}

/**
 * Returns a filter for where so many keys of an index end, those equal to the last included, as it was a moment ago; empty: there are not
 * so many.
 */
function endOf(
  { ask, probes }: Sorted['links'],
  { walked, sort, hint, roughly }: Segment,
  skip: number,
): Promise<readonly Document[]> {
  const order = roughly ?? sort;
  const [field = '_id'] = Object.keys(order);
  const projection = { _id: field === '_id' ? 1 : 0, [field]: 1 };
  // A range of an index is in its order.
  const sorted = walked.min === undefined ? { sort: order } : {};
  return probes.remember(`${skip} ${BSON.EJSON.stringify([walked, order])}`, async () => {
    const { documents } = await ask.read({ ...walked, ...sorted, hint, skip, limit: 1, projection });
    const [bytes] = documents;
    if (bytes === undefined) return [];
    const value = readValue(bytes, fieldsOf(bytes).get(field)!);
    return [{ [field]: { [order[field] === 1 ? '$lte' : '$gte']: value } }];
  });
}

/**
 * What fulfils filters, by some index whatever its order, and sorted.
 *
 * @param driving what the index is used for
 */
export function collectedWalk(
  { links, type, order, filters, projection }: Sorted,
  driving: Document,
  hint: Document,
): Walk<Placed<string>> {
  return walkOf(order, async (after, wanted) => {
    if (order.by === 'computed')
      return sortComputed(links.ask, order, after, [driving, ...filters], hint, projection, wanted);
    return each(toCollected(type, order, after), wanted, async ({ filter, sort }, limit) =>
      links.ask.read({ filter: everyOf([driving, filter, ...filters]), sort, hint, limit, projection }),
    );
  });
}

function walkOf(
  order: Order,
  read: (after: Placed<string> | undefined, wanted: number, rows: number) => Promise<Batch | undefined>,
): Walk<Placed<string>> {
  return {
    async next(after, wanted, rows): Promise<Hits | undefined> {
      const batch = await read(after, wanted, rows);
      if (batch === undefined) return undefined;
      const hits = batch.documents.map((bytes) => {
        return { key: idOf(bytes), values: valuesOf(bytes, order), bytes };
      });
      return { hits, isOver: hits.length < wanted && !batch.isCut };
    },
    placeOf: (hit) => hit,
  };
}

/** Number of tests in a filter, at any depth. A list of accepted values counts as one test. */
function testsIn(filter: unknown): number {
  if (typeof filter !== 'object' || filter === null) return 0;
  let tests = 0;
  for (const each of Object.values(filter)) tests += testsIn(each);
  return Math.max(1, tests);
}

/** One segment after the other, until there is enough. */
async function each(
  segments: readonly Segment[],
  wanted: number,
  work: (segment: Segment, limit: number) => Promise<Batch | undefined>,
): Promise<Batch | undefined> {
  const documents: Batch['documents'][number][] = [];
  for (const segment of segments) {
    const batch = await work(segment, wanted - documents.length);
    if (batch === undefined) return undefined;
    append(documents, batch.documents);
    if (batch.isCut) return { documents, isCut: true };
    if (documents.length >= wanted) break;
  }
  return { documents, isCut: false };
}
