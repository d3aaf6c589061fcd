const LINE_FEED = 0x0a;

/** A line, without its end; undefined bytes: it is longer than allowed and was let pass. */
export interface Line {
  /** From 1. */
  readonly number: number;
  readonly bytes: Buffer | undefined;
}

/** Cuts a stream of bytes into lines, of which it holds one at a time. Lines of white space are left out. */
export async function* splitLines(chunks: AsyncIterable<Buffer>, limit: number): AsyncGenerator<Line> {
  let parts: Buffer[] = [];
  let size = 0;
  let number = 0;

  const line = (): Line | undefined => {
    number++;
    const bytes = size > limit ? undefined : Buffer.concat(parts);
    parts = [];
    size = 0;
    return bytes !== undefined && isBlank(bytes) ? undefined : { number, bytes };
  };
  const add = (part: Buffer): void => {
    size += part.length;
    if (size <= limit) parts.push(part);
    else parts = [];
  };

  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      add(chunk.subarray(start, end));
      const whole = line();
      if (whole !== undefined) yield whole;
      start = end + 1;
    }
    if (start < chunk.length) add(chunk.subarray(start));
  }
  if (size > 0) {
    const last = line();
    if (last !== undefined) yield last;
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
