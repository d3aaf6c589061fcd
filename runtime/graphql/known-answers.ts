import { gunzipSync, gzipSync } from 'node:zlib';

import type { SchemaTables } from './schema/schema.js';
import type { GraphqlRequest } from './request.js';

/** Answers that are kept, and their compressed size together, in bytes. */
const MOST = 8;
const LARGEST = 4_000_000;

const kept = new WeakMap<SchemaTables, Map<string, Buffer>>();

/**
 * The answer to a query that asks for the schema alone: it is the same as long as the server runs, has megabytes, and takes a second to
 * make. It is kept compressed.
 */
export function knownAnswer(request: GraphqlRequest, tables: SchemaTables, make: () => string): string {
  const answers = kept.get(tables) ?? new Map<string, Buffer>();
  kept.set(tables, answers);
  const key = JSON.stringify([request.query, request.variables, request.operationName]);
  const before = answers.get(key);
  if (before !== undefined) return gunzipSync(before).toString('utf8');
  const text = make();
  const packed = gzipSync(text, { level: 1 });
  const size = [...answers.values()].reduce((sum, each) => sum + each.length, packed.length);
  if (answers.size >= MOST || size > LARGEST) answers.clear();
  if (packed.length <= LARGEST) answers.set(key, packed);
  return text;
}
