import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it, vi } from 'vitest';

import { EVENTUALLY } from '../../eventually.js';
import { makeCertificate } from '../../unit/http/make-certificate.js';
import { get, probe, useTlsServer } from './tls-server.js';

/** https://www.iana.org/assignments/tls-parameters/tls-parameters.xhtml#tls-parameters-6 */
const ALERT = { handshakeFailure: 40, protocolVersion: 70, certificateRequired: 116, noApplicationProtocol: 120 };

const rsa = makeCertificate('rsa');
const ec = makeCertificate('ec');

describe('TLS, probed by another program (RFC 9325)', () => {
  const server = useTlsServer(rsa, 'https://fhir.example');
  const port = () => server.listening.port;

  it.each([
    ['TLS 1.0', ['-tls1'], ALERT.protocolVersion],
    ['TLS 1.1', ['-tls1_1'], ALERT.protocolVersion],
    ['static RSA', ['-tls1_2', '-cipher', 'kRSA@SECLEVEL=0'], ALERT.handshakeFailure],
    ['DHE', ['-tls1_2', '-cipher', 'kDHE@SECLEVEL=0'], ALERT.handshakeFailure],
    ['CBC', ['-tls1_2', '-cipher', 'ECDHE-RSA-AES128-SHA256:ECDHE-RSA-AES256-SHA@SECLEVEL=0'], ALERT.handshakeFailure],
    ['no encryption', ['-tls1_2', '-cipher', 'eNULL@SECLEVEL=0'], ALERT.handshakeFailure],
    ['nobody authenticated', ['-tls1_2', '-cipher', 'aNULL@SECLEVEL=0'], ALERT.handshakeFailure],
    ['a curve of 192 bits', ['-tls1_2', '-curves', 'P-192'], ALERT.handshakeFailure],
    ['HTTP/2 alone', ['-tls1_2', '-alpn', 'h2'], ALERT.noApplicationProtocol],
  ])('%s is refused by an alert of the server', async (_what, options, alert) => {
    const { agreed, alerts, text } = await probe(port(), options);
    expect([agreed, alerts], text).toEqual([undefined, [alert]]);
  });

  it.each([
    [['-tls1_2'], 'TLSv1.2 ECDHE-RSA-AES128-GCM-SHA256'],
    [['-tls1_2', '-cipher', 'ECDHE-RSA-AES256-GCM-SHA384'], 'TLSv1.2 ECDHE-RSA-AES256-GCM-SHA384'],
    [['-tls1_2', '-cipher', 'AES128-SHA:ECDHE-RSA-AES128-GCM-SHA256'], 'TLSv1.2 ECDHE-RSA-AES128-GCM-SHA256'],
    [['-tls1_2', '-curves', 'P-256'], 'TLSv1.2 ECDHE-RSA-AES128-GCM-SHA256'],
    [['-alpn', 'h2,http/1.1'], 'TLSv1.3 TLS_AES_256_GCM_SHA384'],
    [['-tls1_3', '-ciphersuites', 'TLS_AES_128_GCM_SHA256'], 'TLSv1.3 TLS_AES_128_GCM_SHA256'],
  ])('%j is taken', async (options, agreed) => {
    const answer = await probe(port(), options);
    expect(answer.agreed, answer.text).toBe(agreed);
  });

  it('a client may not renegotiate, and gets no ticket', async () => {
    const { agreed, text } = await probe(port(), ['-tls1_2'], 'R\n');
    expect(agreed).toBeDefined();
    expect(text).toContain('RENEGOTIATING');
    expect(text).toContain(':no renegotiation:');
    expect(text).not.toContain('TLS session ticket');
  });

  it('tells browsers to come by https only, whatever it answers', async () => {
    for (const path of ['/fhir/metadata', '/fhir/Patient/none', '/nothing']) {
      const { headers } = await get(port(), path, { ca: rsa.cert });
      expect(headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
    }
  });

  it('says links with https', async () => {
    expect(server.listening.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  });
});

describe('TLS with a certificate of ECDSA, on loopback', () => {
  const server = useTlsServer(ec, 'https://localhost:8443', { limits: { headersTime: 400 } });
  const port = () => server.listening.port;

  it('speaks both versions, without Strict-Transport-Security', async () => {
    expect((await probe(port(), ['-tls1_2'])).agreed).toBe('TLSv1.2 ECDHE-ECDSA-AES128-GCM-SHA256');
    expect((await probe(port(), ['-tls1_3'])).agreed).toMatch(/^TLSv1.3 /);
    const { headers, status } = await get(port(), '/fhir/metadata', { ca: ec.cert });
    expect([status, headers['strict-transport-security']]).toEqual([200, undefined]);
  });

  it('ends connections that never speak, or speak plain http', async () => {
    const talk = (bytes: string): Promise<string> =>
      new Promise((resolve) => {
        let received = '';
        const socket = connect(port(), '127.0.0.1', () => socket.write(bytes));
        socket.on('data', (chunk) => (received += String(chunk)));
        socket.on('error', () => {});
        socket.on('close', () => resolve(received));
      });
    expect(await talk('GET /fhir/metadata HTTP/1.1\r\nHost: localhost\r\n\r\n')).not.toContain('HTTP/1.1 200');
    expect(await talk('')).not.toContain('HTTP/1.1 200');
  });
});

describe('what holds for http holds for https', () => {
  const server = useTlsServer(ec, undefined, { limits: { headers: 8192 } });

  /** All that comes until the server closes. */
  const talk = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      let received = '';
      const socket = connectTls({ host: '127.0.0.1', port: server.listening.port, ca: ec.cert }, () =>
        socket.write(text),
      );
      socket.on('data', (chunk) => (received += String(chunk)));
      socket.on('error', reject);
      socket.on('close', () => resolve(received));
    });

  it('requests in a row are answered in their order', async () => {
    const get = (id: number, rest = '') => `GET /fhir/Patient/none-${id} HTTP/1.1\r\nHost: localhost\r\n${rest}\r\n`;
    const text = await talk(get(1) + get(2) + get(3, 'Connection: close\r\n'));
    const answered = [...text.matchAll(/"text":"[^"]*(none-\d)/g)].map(([, id]) => id);
    expect(answered).toEqual(['none-1', 'none-2', 'none-3']);
  });

  it('what is no request, or has too large headers, is told so', async () => {
    expect(await talk('nonsense\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 [^]*"request-invalid"/);
    const large = `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(9000)}\r\n\r\n`;
    expect(await talk(large)).toMatch(/^HTTP\/1\.1 431 [^]*"headers-too-large"/);
  });
});

describe('certificates that are renewed', () => {
  const server = useTlsServer(ec);
  const port = () => server.listening.port;
  const both = ec.cert + rsa.cert;

  it('new connections get the new one, and those that are there go on', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const old = await get(port(), '/fhir/metadata', { ca: both, agent });
    server.replace({ cert: rsa.cert });
    await vi.waitFor(
      () => expect(server.logged.join()).toContain('the key is not that of the certificate'),
      EVENTUALLY,
    );
    expect((await get(port(), '/fhir/metadata', { ca: both })).cert).toBe(old.cert);
    server.remove('key');
    await vi.waitFor(() => expect(server.logged.join()).toContain('key.pem cannot be read (ENOENT)'), EVENTUALLY);
    // What is half done stays so for a while, and is told once.
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(server.logged).toEqual([expect.stringMatching(/^warning: /), expect.stringMatching(/^warning: /)]);
    expect((await get(port(), '/fhir/metadata', { ca: both })).cert).toBe(old.cert);

    server.replace({ key: rsa.key });
    await vi.waitFor(() => expect(server.logged.at(-1)).toContain('new connections get the certificate'), EVENTUALLY);
    const renewed = await get(port(), '/fhir/metadata', { ca: both });
    expect(renewed.cert).toBe(rsa.cert);
    const again = await get(port(), '/fhir/metadata', { ca: both, agent });
    expect([again.status, again.isReused]).toEqual([200, true]);
    expect((await probe(port(), ['-tls1_1'])).alerts).toEqual([ALERT.protocolVersion]);
    agent.destroy();
  });
});

describe('TLS that wants certificates of clients', () => {
  const server = useTlsServer({ ...rsa, ca: ec.cert });
  const port = () => server.listening.port;

  it('refuses who has none, or one of another authority', async () => {
    expect((await get(port(), '/fhir/metadata', { ca: rsa.cert, ...ec })).status).toBe(200);
    await expect(get(port(), '/fhir/metadata', { ca: rsa.cert })).rejects.toThrow(/alert|ECONNRESET|EPIPE|hang up/);
    await expect(get(port(), '/fhir/metadata', { ca: rsa.cert, ...rsa })).rejects.toThrow();
    // TLS 1.3 tells after the client is done.
    expect((await probe(port(), ['-tls1_3'], 'x\n')).alerts).toEqual([ALERT.certificateRequired]);
  });

  it('takes another program that has one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kiln-client-'));
    for (const [name, text] of Object.entries(ec)) writeFileSync(join(folder, name), text);
    const own = ['-cert', join(folder, 'cert'), '-key', join(folder, 'key')];
    try {
      for (const version of ['-tls1_2', '-tls1_3']) {
        const request = 'GET /fhir/metadata HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
        const { agreed, alerts, text } = await probe(port(), [version, '-ign_eof', ...own], request);
        expect([agreed === undefined, alerts], text).toEqual([false, []]);
        expect(text).toContain('HTTP/1.1 200');
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the end of a server of TLS', () => {
  const server = useTlsServer(ec);

  it('does not wait for who never spoke TLS', async () => {
    const socket = connect(server.listening.port, '127.0.0.1');
    const ended = new Promise((resolve) => socket.on('error', () => {}).once('close', resolve));
    await get(server.listening.port, '/fhir/metadata', { ca: ec.cert });
    expect(await server.listening.close(5000)).toBe(true);
    await ended;
  });
});
