import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { Decimal } from '../../../runtime/fhir/decimal.js';
import { FhirError } from '../../../runtime/fhir/errors.js';
import { ndjsonLine, readNdjson, writeNdjson, type NdjsonLimits } from '../../../runtime/format/ndjson.js';

/** The lines of a text that comes in chunks of this many bytes. */
async function read(text: string | Buffer, size = 1_000_000, limits?: NdjsonLimits): Promise<[number, string][]> {
  const bytes = Buffer.from(text);
  const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  );
  const lines: [number, string][] = [];
  for await (const line of readNdjson(chunks, limits)) lines.push([line.number, line.text]);
  return lines;
}

async function failure(action: Promise<unknown>): Promise<string> {
  const error: unknown = await action.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof FhirError)) throw new Error('nothing was refused');
  return `${error.code}: ${error.message}`;
}

describe('reading NDJSON (nd-json.html)', () => {
  it.each<[string, string, [number, string][]]>([
    ['nothing', '', []],
    [
      'lines',
      '{"a":1}\n{"b":2}\n',
      [
        [1, '{"a":1}'],
        [2, '{"b":2}'],
      ],
    ],
    [
      'a last line without line feed',
      'a\nb',
      [
        [1, 'a'],
        [2, 'b'],
      ],
    ],
    [
      'carriage returns',
      'a\r\nb\r\n',
      [
        [1, 'a'],
        [2, 'b'],
      ],
    ],
    [
      'empty lines',
      '\n a\n\n \t\r\nb\n\n',
      [
        [2, ' a'],
        [5, 'b'],
      ],
    ],
    [
      'a byte order mark',
      '\ufeffa\nb',
      [
        [1, 'a'],
        [2, 'b'],
      ],
    ],
    ['other line separators, which are text', 'a\u2028b\u0085c\n', [[1, 'a\u2028b\u0085c']]],
  ])('%s', async (_title, text, lines) => {
    for (const size of [1, 2, 3, 1000]) expect(await read(text, size)).toEqual(lines);
  });

  it('takes streams, of bytes and of text', async () => {
    const texts: string[] = [];
    for await (const { text } of readNdjson(Readable.from(['ä\n€', '\n'], { objectMode: true }))) texts.push(text);
    for await (const { text } of readNdjson(Readable.from([Buffer.from('ä\n')]))) texts.push(text);
    expect(texts).toEqual(['ä', '€', 'ä']);
  });

  it('keeps a piece of a line when the stream uses its buffer again', async () => {
    async function* source(): AsyncGenerator<Buffer> {
      const buffer = Buffer.from('ab');
      yield buffer;
      await Promise.resolve();
      buffer.write('c\n');
      yield buffer;
    }
    const texts: string[] = [];
    for await (const { text } of readNdjson(source())) texts.push(text);
    expect(texts).toEqual(['abc']);
  });

  it('refuses a line that is too long as soon as it is, and only then', async () => {
    expect(await read('12345\n12345\n', 2, { maxLine: 5 })).toHaveLength(2);
    expect(await failure(read('1\n123456', 2, { maxLine: 5 }))).toBe('body-too-large: Line 2 is larger than 5 bytes');
    let sent = 0;
    function* endless(): Generator<Buffer> {
      for (;;) {
        sent++;
        yield Buffer.alloc(1000, 'x');
      }
    }
    const reading = (async () => {
      for await (const line of readNdjson(endless(), { maxLine: 100_000 })) expect(line).toBeUndefined();
    })();
    expect(await failure(reading)).toContain('Line 1 is larger');
    expect(sent).toBe(101);
  });

  it('names the line that is not UTF-8', async () => {
    const bytes = Buffer.concat([Buffer.from('ä\n\nab'), Buffer.from([0xff]), Buffer.from('\n')]);
    expect(await failure(read(bytes, 2))).toBe('json-encoding: Line 3, byte 3: not valid UTF-8');
  });

  it('gives back what was written, in whatever pieces it comes', async () => {
    const values = fc.array(fc.dictionary(fc.string(), fc.string({ unit: 'binary' })), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(values, fc.integer({ min: 1, max: 50 }), async (objects, size) => {
        let text = '';
        for await (const line of writeNdjson(objects)) text += line;
        const lines = await read(text, size);
        expect(lines.map(([, line]) => line)).toEqual(objects.map((object) => JSON.stringify(object)));
      }),
      { numRuns: 200 },
    );
  });
});

describe('writing NDJSON', () => {
  it('a value takes one line, numbers with their text', () => {
    expect(ndjsonLine({ a: '\n\r', b: new Decimal('1.0') })).toBe('{"a":"\\n\\r","b":1.0}\n');
  });
});
