import type { Document } from 'mongodb';

import { FhirError } from '../../../fhir/errors.js';
import { append } from '../../../fhir/lists.js';
import { placeOfArm, shortName, type ArmName } from '../../plan/arm-names.js';
import type { ArmPlace } from '../../plan/cursor.js';
import { fieldsOf, readValue, type Raw } from '../bson/bson.js';
import { keyOf } from '../bson/documents.js';
import { BY_ENTRY } from '../indexes.js';
import { everyOf, LIVING } from './compile/compile.js';
import type { Hit, Hits, HitWalk } from './hit.js';
import type { Batch } from '../read/batch.js';
import type { Links } from './links/links.js';
import { readMerged } from './merged-arms.js';
import { AT, piecesOf, placeIn, textOf, type Arm, type KeyPlace, type Piece, type KeyRange } from './plan/access.js';

/** A projection to that field alone: where nothing else is asked for, the server reads no document. */
export const KEY_ONLY: Document = { _id: 0, type: 1 };

/** Returns a walk through the resources in some arms that fulfil filters: each once, at its first key, in the order of the arms. */
export function armsWalk(
  { ask, probes }: Pick<Links, 'ask' | 'probes'>,
  arms: readonly Arm[],
  filters: readonly Document[],
  projection: Document,
): HitWalk<ArmPlace> {
  const names = arms.map((arm) => shortName([textOf(arm)]));

  async function next(after: ArmPlace | undefined, wanted: number, rows: number): Promise<Hits | undefined> {
    const hits: Hit[] = [];
    const first = after === undefined ? 0 : placeOfArm(names, after.arm);
    if (first < 0) throw new FhirError('page-invalid');
    for (let place = first; place < arms.length; place++) {
      const arm = arms[place]!;
      const at = place === first && after !== undefined ? readPlace(arm, after.at) : undefined;
      const others = arms.slice(0, place).map(({ holds }) => holds);
      if (ask.snapshot.isRouted) {
        if (hits.length === wanted) return { hits, isOver: false };
        const rest = [...filters, ...(place === 0 ? [] : [{ $nor: others }]), ...livingIn(arm)];
        const found = await readMerged(ask, { arm, after: at, rest, limit: wanted - hits.length, projection });
        append(hits, found.documents.map((bytes) => toHit(bytes, arm, place))); // prettier-ignore
        if (found.isCut) return { hits, isOver: false };
        continue;
      }
      for (const piece of piecesOf(arm, at)) {
        if (hits.length === wanted) return { hits, isOver: false };
        const found = await read(arm, piece, others, wanted - hits.length, rows, at !== undefined);
        if (found === undefined) return undefined;
        append(hits, found.documents.map((bytes) => toHit(bytes, arm, place))); // prettier-ignore
        if (found.isCut) return { hits, isOver: false };
      }
    }
    // One more may be behind a full page.
    return { hits, isOver: hits.length < wanted };
  }

  async function read(
    arm: Arm,
    piece: Piece,
    before: readonly Document[],
    limit: number,
    rows: number,
    isLater: boolean,
  ) {
    const passed = [...before, ...(piece.passed === undefined ? [] : [piece.passed])];
    const once = passed.length === 0 ? [] : [{ $nor: passed }];
    const rest = [...filters, ...once, ...livingIn(arm)];
    const { keyRange, driving } = piece;
    const shown = { ...projection, [AT]: { $meta: 'indexKey' } };
    const { hint } = arm;
    const find = (range: KeyRange | undefined): Promise<Batch> => {
      const filter = everyOf(range === undefined ? [driving, ...rest] : rest);
      return ask.read({ filter, ...range, hint, limit, projection: shown });
    };
    const isFull = ({ documents, isCut }: Batch): boolean => documents.length === limit || isCut;
    // A place is in the range alone.
    if (rows === Infinity || rest.length === 0 || isLater) return find(keyRange);
    if (keyRange !== undefined) {
      const end = await keyAt(arm, keyRange, rows);
      const batch = await find(end === undefined ? keyRange : { ...keyRange, max: end });
      return end === undefined || isFull(batch) ? batch : undefined;
    }
    const pipeline = [
      { $match: driving },
      { $limit: rows },
      { $match: everyOf(rest) },
      { $limit: limit },
      { $project: projection },
      { $set: { [AT]: { $meta: 'indexKey' } } },
    ];
    const batch = await ask.pipeline(pipeline, hint, limit);
    return isFull(batch) || !(await ask.isLonger(driving, hint, rows)) ? batch : undefined;
  }

  /** The key behind so many, as it was a moment ago; undefined: there are not so many. */
  function keyAt(arm: Arm, keyRange: KeyRange, skip: number): Promise<Document | undefined> {
    return probes.remember(`${skip} ${textOf(arm)}`, async () => {
      const projection = { ...KEY_ONLY, [AT]: { $meta: 'indexKey' } };
      const { documents } = await ask.read({ filter: {}, ...keyRange, hint: arm.hint, skip, limit: 1, projection });
      const [bytes] = documents;
      return bytes && (Object.fromEntries(indexKeyOf(bytes)) as Document);
    });
  }

  function toHit(bytes: Raw, arm: Arm, place: number): Hit {
    const key = indexKeyOf(bytes);
    const at = [placeIn(arm, key).map(toText)];
    return {
      key: keyIn(key),
      values: [],
      bytes,
      place: { arm: (): ArmName => [place, arms.length, names[place]!], at },
    };
  }

  return { next, placeOf: ({ place }) => ({ arm: place!.arm(), at: place!.at }) };
}

/** Returns what leaves out what is deleted, which has no entries. */
function livingIn({ index }: Arm): readonly Document[] {
  return index in BY_ENTRY ? [] : [LIVING];
}

/** Returns the key of the index by which a document was found. */
function indexKeyOf(bytes: Raw): ReadonlyMap<string, unknown> {
  return readValue(bytes, fieldsOf(bytes).get(AT)!) as ReadonlyMap<string, unknown>;
}

/** The `_id` of a document, which most indexes have. */
function keyIn(key: ReadonlyMap<string, unknown>): string {
  return (
    (key.get('_id') as string | undefined) ?? keyOf({ type: key.get('type') as string, id: key.get('id') as string })
  );
}

/** Fields of indexes that are instants; what is missing is below every text. */
const OF_DATES = new Set(['date', 'date_high', 'by_type_and_time']);
const OF_NUMBERS = new Set(['number']);

/** Part of a key as text of a cursor can have it. */
function toText(part: unknown): string | number {
  if (part === null || part === undefined) return -Infinity;
  if (part instanceof Date) return part.getTime();
  return typeof part === 'string' ? part : Number(part);
}

/** @throws FhirError `page-invalid` for what is no key of an index */
function readPlace({ index }: Arm, at: ArmPlace['at']): KeyPlace {
  const [parts = [], ...others] = at;
  const isDate = OF_DATES.has(index);
  const isNumber = isDate || OF_NUMBERS.has(index);
  const last = parts.length - 1;
  const isFit = parts.every((part, i) => (i === last || !isNumber ? typeof part === 'string' || part === -Infinity : typeof part === 'number')); // prettier-ignore
  if (others.length > 0 || !isFit || typeof parts[last] !== 'string') throw new FhirError('page-invalid');
  return parts.map((part, i) => {
    if (typeof part === 'string') return part;
    // Below the time there is a number.
    if (isDate && !(index === 'by_type_and_time' && i > 0)) return new Date(part);
    return isNumber ? part : null;
  });
}
