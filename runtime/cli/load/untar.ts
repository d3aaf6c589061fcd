/** A file in a tar archive. */
export interface TarEntry {
  readonly name: string;
  /** Undefined: it is above the limit, and was let pass. */
  readonly content: Buffer | undefined;
}

const BLOCK = 512;

/**
 * The files of a tar archive (POSIX ustar and pax, and GNU's long names), one at a time, so that archives need not fit
 * into memory. https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html#tag_20_92_13_06
 *
 * @param wanted by name; the content of others is let pass
 * @param limit greatest size of a wanted file, in bytes
 * @throws Error where it is no tar archive, or ends too early
 */
export async function* untar(
  chunks: AsyncIterable<Buffer>,
  wanted: (name: string) => boolean,
  limit: number,
): AsyncGenerator<TarEntry> {
  const bytes = new ByteReader(chunks);
  let longName: string | undefined;
  for (;;) {
    const header = await bytes.take(BLOCK);
    if (header === undefined || header.every((byte) => byte === 0)) return;
    checkHeader(header);
    const size = octal(header, 124, 12);
    const padded = Math.ceil(size / BLOCK) * BLOCK;
    const type = String.fromCharCode(header[156] ?? 0);
    if (type === 'x' || type === 'L') {
      if (size > 64 * 1024) throw new Error('the archive has a name that is too long');
      const text = (await bytes.need(padded)).toString('utf8', 0, size);
      longName = type === 'L' ? text.replace(/\0.*$/s, '') : (paxPath(text) ?? longName);
      continue;
    }
    const name = longName ?? shortName(header);
    longName = undefined;
    const isWanted = (type === '0' || type === '\0') && wanted(name);
    if (isWanted && size <= limit) yield { name, content: (await bytes.need(padded)).subarray(0, size) };
    else {
      await bytes.skip(padded);
      if (isWanted) yield { name, content: undefined };
    }
  }
}

function checkHeader(header: Buffer): void {
  const sum = header.reduce((total, byte, i) => total + (i >= 148 && i < 156 ? 0x20 : byte), 0);
  if (sum !== octal(header, 148, 8)) throw new Error('not a tar archive');
}

function octal(header: Buffer, at: number, length: number): number {
  const value = Number.parseInt(text(header, at, length).trim() || '0', 8);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error('not a tar archive');
  return value;
}

function text(header: Buffer, at: number, length: number): string {
  return header.toString('utf8', at, at + length).replace(/\0.*$/s, '');
}

function shortName(header: Buffer): string {
  const isUstar = text(header, 257, 6).startsWith('ustar');
  const prefix = isUstar ? text(header, 345, 155) : '';
  return (prefix === '' ? '' : `${prefix}/`) + text(header, 0, 100);
}

/** The path in a pax header, whose records are `LENGTH KEY=VALUE\n`. */
function paxPath(records: string): string | undefined {
  return /(?:^|\n)\d+ path=([^\n]*)\n/.exec(records)?.[1];
}

/** Takes bytes from a stream of chunks. */
class ByteReader {
  private readonly source: AsyncIterator<Buffer>;
  private parts: Buffer[] = [];
  private held = 0;

  constructor(chunks: AsyncIterable<Buffer>) {
    this.source = chunks[Symbol.asyncIterator]();
  }

  /** Undefined: the stream is at its end. */
  async take(length: number): Promise<Buffer | undefined> {
    while (this.held < length && (await this.more()));
    if (this.held === 0) return undefined;
    if (this.held < length) throw new Error('the archive ends too early');
    const all = this.parts.length === 1 ? this.parts[0]! : Buffer.concat(this.parts);
    this.held -= length;
    this.parts = this.held > 0 ? [all.subarray(length)] : [];
    return all.subarray(0, length);
  }

  async need(length: number): Promise<Buffer> {
    if (length === 0) return Buffer.alloc(0);
    const bytes = await this.take(length);
    if (bytes === undefined) throw new Error('the archive ends too early');
    return bytes;
  }

  async skip(length: number): Promise<void> {
    for (let left = length; left > 0;) {
      if (this.held === 0 && !(await this.more())) throw new Error('the archive ends too early');
      const step = Math.min(left, this.held);
      await this.take(step);
      left -= step;
    }
  }

  private async more(): Promise<boolean> {
    const next = await this.source.next();
    if (next.done === true) return false;
    this.parts.push(next.value);
    this.held += next.value.length;
    return true;
  }
}
