import { FhirError } from '../fhir/errors.js';
import type { JsonValue } from '../fhir/resource.js';
import { decodeUtf8 } from './utf8.js';
import { writeJson } from './write-json.js';

/** https://hl7.org/fhir/R5/nd-json.html */
export const NDJSON_TYPE = 'application/fhir+ndjson';

/** One line of NDJSON: the value without line feeds, and one after it. https://github.com/ndjson/ndjson-spec */
export function ndjsonLine(value: JsonValue): string {
  return `${writeJson(value)}\n`;
}

/** Lines of NDJSON, one at a time, as the values come. `Readable.from` makes a stream of it. */
export async function* writeNdjson(values: AsyncIterable<JsonValue> | Iterable<JsonValue>): AsyncGenerator<string> {
  for await (const value of values) yield ndjsonLine(value);
}

/** A line that has something in it. */
export interface NdjsonLine {
  /** From 1; empty lines count. */
  readonly number: number;
  readonly text: string;
}

/** How much memory reading may take. */
export interface NdjsonLimits {
  /** Greatest length of a line in bytes; by default that of a body. */
  readonly maxLine?: number;
}

const MAX_LINE = 50_000_000;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = /^[ \t\r]*$/;

/**
 * Splits a stream into lines, holding no more than one of them and one chunk. Lines end with a line feed, with or without
 * a carriage return before it, the last one may lack it; empty lines are left out, and so is a byte order mark before a
 * line (files with one are put together). What a line holds is not looked at.
 *
 * @throws FhirError naming the line: `body-too-large` beyond the limit, `json-encoding` where it is not UTF-8
 */
export async function* readNdjson(
  source: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
  limits: NdjsonLimits = {},
): AsyncGenerator<NdjsonLine> {
  const lines = new Lines(limits.maxLine ?? MAX_LINE);
  for await (const chunk of source) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : asBuffer(chunk);
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      const line = lines.finish(bytes.subarray(start, end));
      if (line !== undefined) yield line;
      start = end + 1;
    }
    lines.add(bytes.subarray(start));
  }
  const last = lines.finish(Buffer.alloc(0));
  if (last !== undefined) yield last;
}

/** The line that is being read. */
class Lines {
  private number = 1;
  private parts: Buffer[] = [];
  private length = 0;

  constructor(private readonly maxLine: number) {}

  /** Takes a piece of the line. It is copied, because streams may use their chunks again. */
  add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.check(bytes.length);
    this.parts.push(Buffer.from(bytes));
    this.length += bytes.length;
  }

  /** Takes the last piece; gives the line if there is anything in it. */
  finish(bytes: Buffer): NdjsonLine | undefined {
    this.check(bytes.length);
    const whole = this.parts.length === 0 ? bytes : Buffer.concat([...this.parts, bytes]);
    const number = this.number++;
    this.parts = [];
    this.length = 0;
    const end = whole.at(-1) === CARRIAGE_RETURN ? whole.length - 1 : whole.length;
    const text = decode(whole.subarray(0, end), number);
    return SPACE.test(text) ? undefined : { number, text };
  }

  private check(more: number): void {
    if (this.length + more <= this.maxLine) return;
    throw new FhirError('body-too-large', `Line ${this.number} is larger than ${this.maxLine} bytes`);
  }
}

function decode(bytes: Buffer, number: number): string {
  try {
    return decodeUtf8(bytes);
  } catch (error) {
    if (!(error instanceof FhirError)) throw error;
    throw new FhirError(error.code, error.message.replace(/^Line 1\b/, `Line ${number}`));
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
