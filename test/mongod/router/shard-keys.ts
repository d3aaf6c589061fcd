import type { Document } from 'mongodb';
import { createHash } from 'node:crypto';

import { bytesOf } from './compare-values.js';

/** Collections that are sharded, with the field that decides which shard has a document, as docs/scaling.md has it. */
export const SHARD_KEYS: Readonly<Record<string, Document>> = {
  resource: { _id: 'hashed' },
  history: { _id: 'hashed' },
  map: { _id: 'hashed' },
  'blob.chunks': { files_id: 1, n: 1 },
};

/** The field that decides; undefined: the collection is not sharded. */
export function keyField(collection: string): string | undefined {
  return Object.keys(SHARD_KEYS[collection] ?? {})[0];
}

/** The shard of a document with this value in its field: by a digest, as chunks of hashes are dealt out at random. */
export function shardOf(value: unknown, shards: number): number {
  return createHash('sha1').update(bytesOf(value)).digest().readUInt32LE(0) % shards;
}

/**
 * The shards that may have what a filter finds: those of the values that it names by equality, all where it names none.
 * https://www.mongodb.com/docs/manual/core/sharded-cluster-query-router/
 */
export function shardsOf(filter: Document, field: string, shards: number): ReadonlySet<number> {
  const values = valuesOf(filter, field);
  if (values === undefined) return new Set(Array.from({ length: shards }, (_, shard) => shard));
  return new Set(values.map((value) => shardOf(value, shards)));
}

/** Whether a filter names one value of the field by equality. */
export function isTargeted(filter: Document, field: string): boolean {
  return valuesOf(filter, field)?.length === 1;
}

/** @returns undefined: any value */
function valuesOf(filter: Document, field: string): readonly unknown[] | undefined {
  if (field in filter) {
    const own = named(filter[field]);
    if (own !== undefined) return own;
  }
  for (const each of (filter['$and'] as Document[] | undefined) ?? []) {
    const found = valuesOf(each, field);
    if (found !== undefined) return found;
  }
  const arms = filter['$or'] as Document[] | undefined;
  if (arms === undefined) return undefined;
  const found = arms.map((each) => valuesOf(each, field));
  return found.every((each) => each !== undefined) ? found.flat() : undefined;
}

/** A document is a value itself, unless operators are in it. */
function named(value: unknown): readonly unknown[] | undefined {
  const operators = isPlain(value) ? Object.keys(value) : [];
  if (!operators.some((each) => each.startsWith('$'))) return [value];
  const { $eq, $in } = value as Document;
  if ($eq !== undefined) return [$eq];
  return $in as unknown[] | undefined;
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !('_bsontype' in value) && !(value instanceof Date);
}
