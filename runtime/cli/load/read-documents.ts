import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { createGunzip, gunzip } from 'node:zlib';

import { formatSize } from '../../config/setting.js';
import {
  kindOf,
  MAX_DOCUMENT,
  type DocumentFormat,
  type Failure,
  type Skipped,
  type SourceDocument,
} from './document.js';
import { STDIN, type FoundFile } from './find-files.js';
import { splitLines } from './split-lines.js';
import { untar } from './untar.js';

/** A document that was read from a file, or a failure, or a skipped file. */
export type ReadDocument = SourceDocument | Failure | Skipped;

/** Files that are read ahead, and how many bytes of them. */
const AHEAD = 16;
const AHEAD_SIZE = 16 * 1024 * 1024;

/**
 * The documents in files, in order. Small files are read ahead, several at once, but inflated only when it is their turn;
 * of large ones no more is held than a document needs.
 *
 * @param onRead called with each part that was read, in bytes of the file
 * @param limit greatest size of a document, in bytes when inflated; what is larger fails
 */
export async function* readDocuments(
  files: readonly FoundFile[],
  onRead: (bytes: number) => void = () => {},
  limit: number = MAX_DOCUMENT,
): AsyncGenerator<ReadDocument> {
  const most = Math.min(limit, MAX_DOCUMENT);
  const ahead: { readonly size: number; readonly documents: Promise<AsyncIterable<ReadDocument>> }[] = [];
  let aheadSize = 0;
  let next = 0;
  while (next < files.length || ahead.length > 0) {
    while (next < files.length && ahead.length < AHEAD && (ahead.length === 0 || aheadSize < AHEAD_SIZE)) {
      const file = files[next++]!;
      const size = 'size' in file ? file.size : 0;
      aheadSize += size;
      ahead.push({ size, documents: open(file, onRead, most) });
    }
    const { size, documents } = ahead.shift()!;
    yield* await documents;
    aheadSize -= size;
  }
}

/** Never rejects: what goes wrong is a failure of the file. */
async function open(
  file: FoundFile,
  onRead: (bytes: number) => void,
  limit: number,
): Promise<AsyncIterable<ReadDocument>> {
  if (!('path' in file)) return only(file);
  const { path, named, size } = file;
  if (path === STDIN)
    return lines(
      named ? 'stdin' : path,
      count(() => process.stdin, onRead),
      limit,
    );
  const kind = kindOf(path);
  if (kind === undefined) {
    onRead(size);
    if (!named) return only({ place: path, skipped: true });
    const known = '.json, .xml, .ndjson, each also .gz, and .tgz';
    return only({ place: path, error: new Error(`not a file that can be loaded, by its name; those are ${known}`) });
  }
  if (kind.form === 'json' || kind.form === 'xml') {
    try {
      if (size > limit) throw tooLarge(limit);
      const raw = await readFile(path);
      onRead(size);
      const document = { place: path, format: kind.form, bytes: raw, named };
      return kind.gzip ? inflated(document, limit) : only(document);
    } catch (error) {
      return only({ place: path, error });
    }
  }
  const raw = count(() => createReadStream(path, { highWaterMark: 256 * 1024 }), onRead);
  const content = kind.gzip ? inflate(raw) : raw;
  return kind.form === 'ndjson' ? lines(path, content, limit) : archive(path, content, limit);
}

async function* only(document: ReadDocument): AsyncGenerator<ReadDocument> {
  yield document;
}

function tooLarge(limit: number): Error {
  const most = formatSize(limit);
  return new Error(
    limit === MAX_DOCUMENT
      ? `too large for one resource: at most ${most}, inflated`
      : `too large for one resource: at most ${most}, inflated; raise the limit with --limits-body`,
  );
}

/** The document in a file that is inflated when it is wanted: a few bytes may stand for very many. */
async function* inflated(document: SourceDocument, limit: number): AsyncGenerator<ReadDocument> {
  const { place } = document;
  let bytes: Buffer;
  try {
    bytes = await promisify(gunzip)(document.bytes, { maxOutputLength: limit });
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    yield { place, error: isTooLarge ? tooLarge(limit) : error };
    return;
  }
  yield { ...document, bytes };
}

async function* lines(path: string, content: AsyncIterable<Buffer>, limit: number): AsyncGenerator<ReadDocument> {
  try {
    for await (const { number, bytes } of splitLines(content, limit)) {
      const place = `${path}:${number}`;
      yield bytes === undefined ? { place, error: tooLarge(limit) } : { place, format: 'json', bytes, named: true };
    }
  } catch (error) {
    yield { place: path, error };
  }
}

async function* archive(path: string, content: AsyncIterable<Buffer>, limit: number): AsyncGenerator<ReadDocument> {
  const wanted = (name: string): boolean => /\.(json|xml|ndjson)$/i.test(name);
  try {
    for await (const entry of untar(content, wanted, limit)) {
      const place = `${path}/${entry.name}`;
      const format = kindOf(entry.name)?.form;
      if (entry.content === undefined) yield { place, error: tooLarge(limit) };
      else if (format === 'ndjson') yield* lines(place, one(entry.content), limit);
      else yield { place, format: format as DocumentFormat, bytes: entry.content, named: false };
    }
  } catch (error) {
    yield { place: path, error };
  }
}

async function* one(content: Buffer): AsyncGenerator<Buffer> {
  yield content;
}

/** @param open called when the first bytes are wanted: a stream that fails before has no listener */
async function* count(open: () => AsyncIterable<unknown>, onRead: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of open()) {
    const bytes = chunk as Buffer;
    onRead(bytes.length);
    yield bytes;
  }
}

/** A stream that is inflated as it is read; an error of either side comes out. */
async function* inflate(raw: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const { pipeline } = await import('node:stream/promises');
  const gunzipped = createGunzip();
  const fed = pipeline(raw, gunzipped);
  fed.catch(() => {}); // reported when the iteration below ends
  for await (const chunk of gunzipped) yield chunk as Buffer;
  await fed;
}
