import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';

import { FhirError } from '../../../runtime/fhir/errors.js';
import { SILENT, type RequestRecord } from '../../../runtime/observe/log.js';
import { EVENTUALLY } from '../../eventually.js';
import { codeOf, FHIR_JSON, useToyServer } from '../server.js';

/** Sends bytes as they are, and gives back all that comes until the server closes. */
function talk(port: number, ...pieces: (string | Buffer)[]): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => {
      for (const piece of pieces) socket.write(piece);
    });
    socket.on('data', (chunk) => (received += chunk.toString('latin1')));
    socket.on('close', () => resolve(received));
  });
}

describe('one connection (RFC 9112)', () => {
  const server = useToyServer();

  it('requests that a client pipelines are answered one after the other, in their order', async () => {
    const gets = Array.from(
      { length: 50 },
      (_, n) => `GET /fhir/Patient/none-${n} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    );
    const text = await talk(
      server.port,
      gets.join(''),
      'GET /fhir/Patient/last HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
    );
    expect(text.match(/HTTP\/1\.1 404/g)).toHaveLength(51);
    const names = [...text.matchAll(/none-(\d+)/g)].map(([, n]) => Number(n));
    expect([...new Set(names)]).toEqual([...new Set(names)].sort((a, b) => a - b));
  });

  it('a connection without requests stays open for longer than load balancers keep theirs: its next request was lost', async () => {
    const { headers } = await server.send('GET', '/metadata');
    expect(headers['keep-alive']).toBe('timeout=65');
  });

  it('answers that nobody reads held the memory of all that were asked for', async () => {
    const name = [{ family: 'x'.repeat(2_000_000) }];
    expect((await server.send('PUT', '/Patient/big', { resourceType: 'Patient', id: 'big', name })).status).toBe(201);
    const read = vi.spyOn(server.store, 'read');
    let socket: Socket | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const one = 'GET /fhir/Patient/big HTTP/1.1\r\nHost: localhost\r\n\r\n';
        socket = connect(server.port, '127.0.0.1', () => socket?.write(one.repeat(200), () => resolve()));
        socket.on('error', reject);
        socket.pause();
      });
      await vi.waitFor(() => expect(read.mock.calls.length).toBeGreaterThan(0), EVENTUALLY);
      await new Promise((resolve) => setTimeout(resolve, 500));
      // The kernel takes some megabytes off the server before nothing goes out any more.
      expect(read.mock.calls.length).toBeLessThan(30);
    } finally {
      socket?.destroy();
      read.mockRestore();
    }
    expect((await server.send('GET', '/metadata')).status).toBe(200);
    expect(server.defects).toEqual([]);
  });

  it('a target with scheme and host is as good as one with a Host header', async () => {
    const get = (target: string, host: string) =>
      talk(server.port, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(await get('http://localhost/fhir/metadata', 'localhost')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await get('HTTP://127.0.0.1:8080/fhir/metadata?_pretty=true', 'example.org')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await get('http://example.org/fhir/metadata', 'localhost')).toMatch(/^HTTP\/1\.1 403 [^]*open-mode-host/);
    expect(await get('http://localhost', 'localhost')).toMatch(/^HTTP\/1\.1 404 /);
  });

  it('a transfer coding beside chunked is refused, not taken for the content', async () => {
    const body = gzipSync('{"resourceType":"Patient"}');
    const text = await talk(
      server.port,
      `POST /fhir/Patient HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${FHIR_JSON}\r\n` +
        `Transfer-Encoding: gzip, chunked\r\n\r\n${body.length.toString(16)}\r\n`,
      body,
      '\r\n0\r\n\r\n',
    );
    expect(text).toMatch(/^HTTP\/1\.1 501 [^]*"transfer-encoding"/);
  });

  it('who speaks HTTP/1.0 is sent no 100 Continue', async () => {
    const body = '{"resourceType":"Patient"}';
    const head = `Host: localhost\r\nContent-Type: ${FHIR_JSON}\r\nContent-Length: ${body.length}\r\nExpect: 100-continue`;
    const post = (version: string) =>
      talk(server.port, `POST /fhir/Patient HTTP/${version}\r\n${head}\r\nConnection: close\r\n\r\n${body}`);
    expect(await post('1.0')).toMatch(/^HTTP\/1\.[01] 201 /);
    expect(await post('1.1')).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
  });

  it.each([
    ['http://example.org', 403],
    ['null', 403],
    ['http://localhost:3000', 201],
    ['https://127.0.0.1', 201],
  ])('in open mode a page of %s that writes gets %i', async (origin, status) => {
    const answer = await server.send('POST', '/Patient', { resourceType: 'Patient' }, { origin });
    expect(answer.status).toBe(status);
    if (status === 403) expect(codeOf(answer)).toBe('open-mode-origin');
  });

  it('If-Unmodified-Since stops a write to what has changed (RFC 9110, 13.1.4)', async () => {
    const patient = { resourceType: 'Patient', id: 'since' };
    const at = (time: number | string) => ({
      'if-unmodified-since': typeof time === 'string' ? time : new Date(time).toUTCString(),
    });
    expect((await server.send('PUT', '/Patient/since', patient, at(0))).status).toBe(201);
    const changed = { ...patient, active: true };
    expect((await server.send('PUT', '/Patient/since', changed, at(0))).status).toBe(412);
    expect((await server.send('DELETE', '/Patient/since', undefined, at(0))).status).toBe(412);
    expect((await server.send('PUT', '/Patient/since', changed, at(Date.now() + 60_000))).status).toBe(200);
    // If-Match counts before it, and what is no date does not count.
    const matched = { ...at(0), 'if-match': 'W/"2"' };
    expect((await server.send('PUT', '/Patient/since', patient, matched)).status).toBe(200);
    expect((await server.send('DELETE', '/Patient/since', undefined, at('yesterday'))).status).toBe(200);
  });
});

describe('a store that does not work', () => {
  const requests: RequestRecord[] = [];
  const defects: unknown[] = [];
  const log = {
    ...SILENT,
    request: (record: RequestRecord) => void requests.push(record),
    defect: (_id: string, error: unknown) => void defects.push(error),
  };
  const server = useToyServer({ log });

  it('is told as 503, and logged in a line that says why, without a stack', async () => {
    const error = new FhirError('store-unavailable', undefined, { diagnostics: 'it has no primary' });
    const read = vi.spyOn(server.store, 'read').mockRejectedValue(error);
    const answer = await server.send('GET', '/Patient/1');
    read.mockRestore();
    expect([answer.status, codeOf(answer)]).toEqual([503, 'store-unavailable']);
    expect(requests.at(-1)).toMatchObject({ status: 503, failure: 'store-unavailable (it has no primary)' });
    expect(defects).toEqual([]);
  });
});
