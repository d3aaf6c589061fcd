import { BSON, type Document } from 'mongodb';

import { append } from '../../../fhir/lists.js';
import { valuedBy } from '../../../search/query/query.js';
import type { Placed } from '../../plan/cursor.js';
import { fieldsOf, idOf, readValue } from '../bson/bson.js';
import { readHead } from '../bson/stored-version.js';
import type { Batch } from '../read/batch.js';
import { armsWalk } from './arms.js';
import type { Ask } from './ask.js';
import { everyOf } from './compile/compile.js';
import { BY_ID, valuesOf, type Order } from './compile/order.js';
import { behindStages, sortComputed } from './computed.js';
import type { Hit, Hits, HitWalk } from './hit.js';
import type { Links } from './links/links.js';
import { entryAccess } from './plan/access.js';
import { toCollected, toSegmentFrom, toSegments, withoutValue, type Segment } from './plan/segments.js';

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
export function orderWalk(sorted: Sorted): HitWalk<Placed<string>> {
  const { links, type, order, filters, projection } = sorted;
  const { ask } = links;
  const share = Math.min(1, MANY_TESTS / testsIn(filters));
  if (order.by === 'token') return tokenWalk(sorted);
  if (!order.isPlain) return walkOf(order, (after, wanted, rows) => nextOfRuns(sorted, after, wanted, share * rows));
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
 * Opens a walk through the resources that fulfil filters: some index finds them, whatever its order, and they are
 * sorted then.
 *
 * @param driving what the index is used for
 */
export function collectedWalk(
  { links, type, order, filters, projection }: Sorted,
  driving: Document,
  hint: Document,
): HitWalk<Placed<string>> {
  return walkOf(order, async (after, wanted) => {
    if (!isStored(order)) return sortComputed(links.ask, order, after, [driving, ...filters], hint, projection, wanted);
    return each(toCollected(type, order, after), wanted, async ({ filter, sort }, limit) =>
      links.ask.read({ filter: everyOf([driving, filter, ...filters]), sort, hint, limit, projection }),
    );
  });
}

/** Whether the server has the whole order in fields of documents. */
function isStored({ by, isPlain }: Order): boolean {
  return isPlain && by !== 'token' && by !== 'computed';
}

/**
 * Goes on in an order whose first key alone has an index. A first command finds the value of that key where as many as are wanted end;
 * all up to it are put in order by the other keys, so that what is equal in the first key is read as a whole.
 */
async function nextOfRuns(
  { links, type, order, filters, projection }: Sorted,
  after: Placed<string> | undefined,
  wanted: number,
  rows: number,
): Promise<Batch | undefined> {
  const { ask } = links;
  const [first] = order.keys;
  const value = after?.values[0];
  const found: Batch['documents'][number][] = [];
  if (first === undefined) return { documents: found, isCut: false };
  if (value !== null) {
    const segment = toSegmentFrom(type, first, value);
    const { hint } = segment;
    const end = rows === Infinity ? [] : await endOf(links, segment, Math.ceil(rows));
    const range = [segment.filter, ...end];
    const upTo = await valueAt(ask, first.field, hint, wanted, [
      { $match: everyOf([...range, ...filters]) },
      { $sort: segment.roughly ?? segment.sort },
      ...(after === undefined ? [] : behindStages(order, after)),
    ]);
    if (upTo === undefined && end.length > 0) return undefined;
    const until = upTo === undefined ? [] : [{ [first.field]: { [first.sign === 1 ? '$lte' : '$gte']: upTo } }];
    const batch = await sortComputed(ask, order, after, [...range, ...until, ...filters], hint, projection, wanted);
    append(found, batch.documents);
    if (found.length >= wanted || batch.isCut) return { documents: found, isCut: batch.isCut };
  }
  // Everything has a time.
  if (first.field === 'updated') return { documents: found, isCut: false };
  const without = withoutValue(type, first, undefined);
  if (rows < Infinity && (await endOf(links, without, Math.ceil(rows))).length > 0) return undefined;
  const from = value === null ? after : undefined;
  const left = wanted - found.length;
  const rest = await sortComputed(ask, order, from, [without.filter, ...filters], without.hint, projection, left);
  append(found, rest.documents);
  return { documents: found, isCut: rest.isCut };
}

/** Returns the value that the last of so many has in a field; undefined: there are not so many. */
async function valueAt(
  ask: Ask,
  field: string,
  hint: Document,
  count: number,
  stages: readonly Document[],
): Promise<unknown> {
  const pipeline = [...stages, { $skip: count - 1 }, { $limit: 1 }, { $project: { _id: 0, [field]: 1 } }];
  const [bytes] = (await ask.pipeline(pipeline, hint, 1)).documents;
  return bytes && readValue(bytes, fieldsOf(bytes).get(field)!);
}

/** All of the type that fulfils filters, by the index of a token parameter: at its first code, then what has none. */
function tokenWalk(sorted: Sorted): HitWalk<Placed<string>> {
  const { links, type, order, filters, projection } = sorted;
  const [param = ''] = valuedBy(order.keys[0]!.sort);
  const arms = armsWalk(links, entryAccess(type, 'token', param, { ranges: [{}] }).arms, filters, projection);
  const lacking = {
    ...sorted,
    order: BY_ID,
    filters: [...filters, { $nor: [{ token: { $elemMatch: { p: param } } }] }],
  };
  const others = orderWalk(lacking);
  return {
    async next(after, wanted, rows) {
      const [code] = after?.values[0] ?? [];
      const isAmongOthers = after !== undefined && code === undefined;
      // The codes are one range, and it is the first.
      const at = after && ({ arm: [0, 1, ''], at: [[code === '' ? -Infinity : code!, after.key]] } as const);
      const first = isAmongOthers ? { hits: [], isOver: true } : await arms.next(at, wanted, rows);
      if (first === undefined) return undefined;
      const hits = first.hits.map((hit): Hit => ({ ...hit, values: [[codeOf(hit)]] }));
      if (!first.isOver) return { hits, isOver: false };
      const rest = await others.next(isAmongOthers ? after : undefined, wanted - hits.length, rows);
      if (rest === undefined) return undefined;
      return { ...rest, hits: [...hits, ...rest.hits.map((hit): Hit => ({ ...hit, values: [null] }))] };
    },
    placeOf: (hit) => hit,
  };
}

/** Returns the code by which a hit was found; empty: its entry has none. */
function codeOf({ place }: Hit): string {
  const [[code = ''] = []] = place?.at ?? [];
  return typeof code === 'string' ? code : '';
}

function walkOf(
  order: Order,
  read: (after: Placed<string> | undefined, wanted: number, rows: number) => Promise<Batch | undefined>,
): HitWalk<Placed<string>> {
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
