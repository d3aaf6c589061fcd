import type { Document } from 'mongodb';

import { append } from '../../../fhir/lists.js';
import { readHead } from '../bson/stored-version.js';
import type { Batch } from '../read/batch.js';
import type { Stretch } from './plan/access.js';
import type { Ask } from './ask.js';
import { everyOf } from './compile/compile.js';
import type { Segment } from './plan/segments.js';

/**
 * Documents that a walk looks at before it is clear that it is the wrong way, or so many for each that is wanted; fewer in a first
 * try, because the server reads far ahead of what comes out.
 */
const WALKED = [
  { least: 250, each: 3 },
  { least: 5000, each: 6 },
];

/** A walk looks at fewer documents that are asked for more than so many tests: the server looks at the clock once in 128 of them. */
const MANY_TESTS = 50;

/** What has to be fulfilled beside lying in a segment: what an index is walked through by, and the rest. */
export interface Filters {
  readonly driving: Document;
  readonly others: readonly Document[];
}

/** Walks through the index of each segment, to its end where need be. */
export async function walkWhole(
  ask: Ask,
  segments: readonly Segment[],
  filters: readonly Document[],
  limit: number,
): Promise<Batch> {
  return each(segments, limit, async (segment, rest) => {
    const { sort, hint, roughly } = segment;
    if (roughly === undefined) return ask.find(everyOf([segment.filter, ...filters]), sort, hint, rest);
    const first = await ask.find(everyOf([segment.filter, ...filters]), roughly, hint, rest);
    return completeTies(ask, segment, filters, first, rest);
  });
}

/** Where what was found ends within one time, ids decide which of that time come: they are asked for again. */
async function completeTies(
  ask: Ask,
  { filter, sort, hint, roughly }: Segment,
  filters: readonly Document[],
  found: Batch,
  limit: number,
): Promise<Batch> {
  const last = found.documents.at(-1);
  if (last === undefined || roughly === undefined) return found;
  const bound = { updated: { [roughly['updated'] === 1 ? '$lte' : '$gte']: new Date(readHead(last).updated) } };
  return ask.find(everyOf([filter, bound, ...filters]), sort, hint, limit);
}

/**
 * The same, but given up where it has looked at far more than it has found.
 *
 * @param by an index to be used in place of the segment's, which has the same order among what `driving` finds
 */
export async function walkAWhile(
  ask: Ask,
  segments: readonly Segment[],
  { driving, others }: Filters,
  limit: number,
  by?: Document,
): Promise<Batch | undefined> {
  let isTooFar = false;
  const share = Math.min(1, MANY_TESTS / testsIn(others));
  const found = await each(segments, limit, async (segment, rest) => {
    const { filter, sort, hint, roughly } = segment;
    const walked = everyOf([driving, filter]);
    let batch: Batch = { documents: [], isCut: false };
    for (const { least, each: wanted } of share < 1 ? WALKED.slice(0, 1) : WALKED) {
      const most = Math.ceil(share * Math.max(least, wanted * limit));
      const pipeline = [
        { $match: walked },
        { $sort: roughly ?? sort },
        { $limit: most },
        { $match: everyOf(others) },
        { $limit: rest },
        { $project: ask.projection },
      ];
      batch = await ask.pipeline(pipeline, by ?? hint, rest);
      const isFull = batch.documents.length === rest || batch.isCut;
      isTooFar = !isFull && (await ask.isLonger(walked, by ?? hint, most));
      if (!isTooFar) break;
    }
    if (isTooFar) return { documents: [], isCut: true };
    return roughly === undefined ? batch : completeTies(ask, segment, [driving, ...others], batch, rest);
  });
  return isTooFar ? undefined : found;
}

/** Finds what fulfils the conditions by some index, whatever its order, and sorts it. */
export async function collect(
  ask: Ask,
  segments: readonly Segment[],
  { driving, others }: Filters,
  hint: Document | undefined,
  limit: number,
  stretch?: Stretch,
): Promise<Batch> {
  return each(segments, limit, async ({ filter, sort }, rest) =>
    ask.find(everyOf([driving, filter, ...others]), sort, hint, rest, stretch),
  );
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
  limit: number,
  work: (segment: Segment, limit: number) => Promise<Batch>,
): Promise<Batch> {
  const documents: Batch['documents'][number][] = [];
  for (const segment of segments) {
    const batch = await work(segment, limit - documents.length);
    append(documents, batch.documents);
    if (batch.isCut) return { documents, isCut: true };
    if (documents.length >= limit) break;
  }
  return { documents, isCut: false };
}
