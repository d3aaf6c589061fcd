import { Parser, type ReadEntry } from 'tar';

/** A file in a tar archive. */
export interface TarEntry {
  readonly name: string;
  /** Undefined: it is above the limit, and was let pass. */
  readonly content: Buffer | undefined;
}

/** Greatest size of a long name, in bytes. */
const MAX_NAME = 64 * 1024;

/**
 * The files of a tar archive, one at a time, so that archives need not fit into memory. Nothing is written: links lead
 * nowhere, and a name is no more than a name.
 * https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html#tag_20_92_13_06
 *
 * @param wanted by name; the content of others is let pass
 * @param limit greatest size of a wanted file, in bytes
 * @param inspect is shown each entry of the archive, wanted or not
 * @throws Error where it is no tar archive, or ends too early
 */
export async function* untar(
  chunks: AsyncIterable<Buffer>,
  wanted: (name: string) => boolean,
  limit: number,
  inspect: (entry: Pick<ReadEntry, 'path' | 'type'>) => void = () => {},
): AsyncGenerator<TarEntry> {
  const ready: TarEntry[] = [];
  let fault: Error | undefined;
  const parser = new Parser({
    strict: true,
    maxMetaEntrySize: MAX_NAME,
    filter(name, entry) {
      inspect(entry as ReadEntry);
      return isFile(entry as ReadEntry) && wanted(name);
    },
    onReadEntry: (entry) => {
      collect(entry, limit, (file) => ready.push(file));
    },
  });
  parser.on('error', (error: Error) => (fault ??= explain(error)));
  for await (const chunk of chunks) {
    parser.write(chunk);
    yield* ready.splice(0);
    if (fault !== undefined) throw fault;
  }
  parser.end();
  if (fault !== undefined) throw fault;
  yield* ready;
}

function isFile({ type }: ReadEntry): boolean {
  return type === 'File' || type === 'OldFile';
}

function collect(entry: ReadEntry, limit: number, add: (file: TarEntry) => void): void {
  const { path: name, size } = entry;
  if (size > limit) {
    entry.resume();
    add({ name, content: undefined });
    return;
  }
  const parts: Buffer[] = [];
  entry.on('data', (part) => parts.push(part));
  // Invalid: the archive ended within the file.
  entry.on('end', () => {
    const content = Buffer.concat(parts);
    if (content.length === size) add({ name, content });
  });
}

/** What the parser found, in our words. It tells its findings apart by text alone. */
function explain(error: Error): Error {
  const { message } = error;
  if (message.includes('Truncated')) return new Error('the archive ends too early', { cause: error });
  const isEmpty = message.includes('Unrecognized');
  return new Error(isEmpty ? 'not a tar archive, or one without files' : 'not a tar archive', { cause: error });
}
