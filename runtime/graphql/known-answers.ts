import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';

import type { GraphqlRequest } from './request.js';
import type { SchemaTables } from './schema/schema.js';

/** Answers that are kept, and their compressed size together, in bytes. */
const MOST = 8;
const LARGEST = 4_000_000;

const kept = new WeakMap<SchemaTables, Map<string, Buffer>>();

/**
 * The answer to a query that asks for the schema alone: it is the same as long as the server runs, has megabytes, and takes a second to
 * make. It is kept compressed, and is never whole in memory.
 *
 * @param make the pieces of its text
 */
export function knownAnswer(
  request: GraphqlRequest,
  tables: SchemaTables,
  make: () => Iterable<string>,
): AsyncIterable<Uint8Array> {
  const answers = kept.get(tables) ?? new Map<string, Buffer>();
  kept.set(tables, answers);
  const key = JSON.stringify([request.query, request.variables, request.operationName]);
  const before = answers.get(key);
  return before === undefined ? madeAnswer(make(), (packed) => keep(answers, key, packed)) : unpacked(before);
}

function keep(answers: Map<string, Buffer>, key: string, packed: Buffer): void {
  const size = [...answers.values()].reduce((sum, each) => sum + each.length, packed.length);
  if (answers.size >= MOST || size > LARGEST) answers.clear();
  if (packed.length <= LARGEST) answers.set(key, packed);
}

/** Passes the pieces on as they are made, and what they are together when all were taken. */
async function* madeAnswer(pieces: Iterable<string>, done: (packed: Buffer) => void): AsyncGenerator<Uint8Array> {
  const packer = createGzip({ level: 1 });
  const packed: Buffer[] = [];
  const ended = pipeline(packer, async (bytes) => {
    for await (const each of bytes) packed.push(each as Buffer);
  });
  try {
    for (const piece of pieces) {
      const bytes = Buffer.from(piece);
      packer.write(bytes);
      yield bytes;
      // No more is made than what is packed by then: all of it would be megabytes.
      if (packer.writableNeedDrain) await once(packer, 'drain');
    }
    packer.end();
    await ended;
  } catch (error) {
    packer.destroy();
    await ended.catch(() => {});
    throw error;
  } finally {
    // Who stops before the end leaves nothing to keep.
    if (!packer.writableEnded) {
      ended.catch(() => {});
      packer.destroy();
    }
  }
  done(Buffer.concat(packed));
}

async function* unpacked(packed: Buffer): AsyncGenerator<Uint8Array> {
  const bytes = createGunzip();
  bytes.end(packed);
  for await (const piece of bytes) yield piece as Buffer;
}
