import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';

import { FHIR_JSON, useToyServer } from '../http/server.js';

const COUNT = 2000;

/** Requests of every kind, as they go over the wire. */
const body = '{"resourceType":"Patient","id":"p","name":[{"family":"Chalmers","given":["Peter"]}],"x":1.50}';
const withBody = (line: string, type = FHIR_JSON, more = '') =>
  `${line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: ${type}\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`;
const bare = (line: string, more = '') => `${line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${more}\r\n`;
const SEEDS = [
  withBody('PUT /fhir/Patient/p', FHIR_JSON, 'If-Match: W/"1"\r\n'),
  withBody('POST /fhir/Patient?_pretty=true', FHIR_JSON, 'Prefer: return=representation\r\n'),
  withBody('PUT /fhir/Binary/b', 'image/png', 'X-Security-Context: Patient/1\r\n'),
  bare('GET /fhir/Patient/p?_format=json', 'If-None-Match: W/"1"\r\nAccept-Encoding: gzip;q=0.5, br\r\n'),
  bare('GET /fhir/Patient/p/_history?_since=2024-01-01T00:00:00Z&_count=5'),
  bare('GET /fhir/_history?_at=2024&_count=1'),
  bare('GET /fhir/Binary/b', 'Range: bytes=0-10\r\nIf-Range: W/"1"\r\n'),
  bare('GET /fhir/Patient/p/_history/1', 'If-Modified-Since: Sat, 29 Oct 1994 19:43:31 GMT\r\n'),
  bare('GET /fhir/metadata?mode=full', 'Accept: application/fhir+json;q=0.9, */*;q=0.1\r\n'),
  bare('DELETE /fhir/Patient/q'),
];

/** Numbers that look random and are the same in every run. */
function mulberry(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const SPLINTERS = [
  '%00',
  '%2F',
  '/',
  '//',
  '\x00',
  '"',
  '\\',
  '{',
  '[',
  ']',
  '-',
  '9'.repeat(30),
  '\u00ff',
  '?',
  '&',
  '=',
  ',',
  ';',
  '\r\n',
  '__proto__',
  '_page=x',
  '%',
];

/** Changes a few places: a byte replaced, a part dropped, doubled or moved, something strange put in. */
function mutate(text: string, random: (below: number) => number): string {
  let result = text;
  for (let i = 1 + random(4); i > 0; i--) {
    const at = random(result.length);
    const end = Math.min(result.length, at + 1 + random(12));
    const rest = result.slice(end);
    const kinds = [
      () => result.slice(0, at) + String.fromCharCode(random(256)) + result.slice(at + 1),
      () => result.slice(0, at) + rest,
      () => result.slice(0, end) + result.slice(at),
      () => result.slice(0, at) + (SPLINTERS[random(SPLINTERS.length)] ?? '') + result.slice(at),
    ];
    result = kinds[random(kinds.length)]?.() ?? result;
  }
  return result;
}

function send(port: number, request: string): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const socket: Socket = connect(port, '127.0.0.1', () => socket.end(Buffer.from(request, 'latin1')));
    socket.on('data', (chunk) => (received += chunk.toString('latin1')));
    socket.on('error', () => {});
    socket.on('close', () => resolve(received));
    socket.setTimeout(3_000, () => socket.destroy());
  });
}

describe('seeded mutations of requests', () => {
  const server = useToyServer({ limits: { bodyIdleTime: 300, headersTime: 500, requestTime: 1_000 } });

  it(`${COUNT} of them give no 5xx and no defect`, { timeout: 60_000 }, async () => {
    const statuses = new Map<string, number>();
    const failures: string[] = [];
    for (let start = 0; start < COUNT; start += 50) {
      await Promise.all(
        Array.from({ length: 50 }, async (_, i) => {
          const random = mulberry(start + i);
          const request = mutate(SEEDS[random(SEEDS.length)] ?? '', random);
          const status = /^HTTP\/1\.1 (\d{3})/.exec(await send(server.port, request))?.[1] ?? 'none';
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          if (status.startsWith('5')) failures.push(`${start + i}: ${status} ${JSON.stringify(request)}`);
        }),
      );
    }
    expect(failures).toEqual([]);
    expect(server.defects).toEqual([]);
    // Otherwise the mutations all died at the door, or none did any harm.
    expect(statuses.get('400')).toBeGreaterThan(100);
    expect((statuses.get('200') ?? 0) + (statuses.get('201') ?? 0)).toBeGreaterThan(100);
    expect(statuses.get('none') ?? 0).toBeLessThan(COUNT / 10);
  });
});
