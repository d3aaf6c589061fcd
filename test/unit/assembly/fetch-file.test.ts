import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { rootCertificates } from 'node:tls';
import https from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createFetchFile } from '../../../runtime/assembly/fetch-file.js';
import { FhirError } from '../../../runtime/fhir/errors.js';
import { makeCertificate } from '../http/make-certificate.js';

const TEXT = '{"resourceType":"Patient"}\n'.repeat(3);

/** A file is fetched from a server of https whose certificate an authority of ours has signed. */
describe('a file of another server', () => {
  let server: Server;
  let port: number;
  const asked: string[] = [];
  const made = makeCertificate('ec');

  beforeAll(async () => {
    server = createServer({ cert: made.cert, key: made.key }, (req, res) => {
      asked.push(req.url ?? '');
      if (req.url === '/moved') return res.writeHead(302, { location: '/file' }).end();
      if (req.url === '/none') return res.writeHead(404).end();
      if (req.url === '/later') return res.writeHead(429).end();
      return res.end(TEXT);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(() => void server.close());

  const { signal } = new AbortController();
  const fetchFrom = async (url: string, allowed: string): Promise<string> => {
    const parts: Uint8Array[] = [];
    for await (const part of await createFetchFile([allowed])!(url, signal)) parts.push(part);
    return Buffer.concat(parts).toString();
  };
  /** With this authority known to the process, as NODE_EXTRA_CA_CERTS makes it. */
  async function trusting<T>(work: () => Promise<T>): Promise<T> {
    const before = https.globalAgent.options.ca;
    https.globalAgent.options.ca = [...rootCertificates, made.cert];
    try {
      return await work();
    } finally {
      https.globalAgent.options.ca = before;
    }
  }

  it('comes where its host and port are allowed and its certificate is trusted', async () => {
    const url = `https://localhost:${port}/file`;
    expect(await trusting(() => fetchFrom(url, `localhost:${port}`))).toBe(TEXT);
    await expect(fetchFrom(url, `localhost:${port}`)).rejects.toThrow(/self-signed|certificate/);
  });

  it('is not asked for elsewhere: not at another port, nor by another name, nor where a redirect leads', async () => {
    const before = asked.length;
    await expect(fetchFrom(`https://localhost:${port}/file`, 'localhost')).rejects.toThrow('port');
    await expect(fetchFrom(`https://127.0.0.1:${port}/file`, `localhost:${port}`)).rejects.toThrow('import.allow');
    expect(asked.length).toBe(before);
    for (const [path, status, isFinal] of [
      ['moved', 302, false],
      ['none', 404, true],
      ['later', 429, false],
    ] as const) {
      const moved = trusting(() => fetchFrom(`https://localhost:${port}/${path}`, `localhost:${port}`));
      await expect(moved).rejects.toThrow(`answered ${status}`);
      // What a server refuses is not asked for again.
      expect((await moved.catch((error: unknown) => error)) instanceof FhirError).toBe(isFinal);
    }
    expect(asked.slice(before)).toEqual(['/moved', '/none', '/later']);
  });
});
