import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

import { openTransport } from '../../../runtime/assembly/transport.js';
import { readConfig } from '../../../runtime/config/read-config.js';
import { SILENT } from '../../../runtime/observe/log.js';
import { makeCertificate } from '../http/make-certificate.js';

const folder = mkdtempSync(join(tmpdir(), 'kiln-transport-'));
afterAll(() => rmSync(folder, { recursive: true }));
const made = makeCertificate('ec');
const TLS = { 'tls-cert': join(folder, 'cert.pem'), 'tls-key': join(folder, 'key.pem') };
writeFileSync(TLS['tls-cert'], made.cert);
writeFileSync(TLS['tls-key'], made.key);

async function open(flags: Record<string, string>) {
  const notes: string[] = [];
  const log = { ...SILENT, info: (text: string) => void notes.push(text) };
  return { ...(await openTransport(readConfig(flags, {}).config, log)), notes };
}

describe('the transport of a configuration', () => {
  it.each<[string, Record<string, string>, string | undefined]>([
    ['on loopback what each client calls it', {}, undefined],
    ['on loopback with TLS too', TLS, undefined],
    ['what is configured', { 'base-url': 'https://fhir.example/kiln/' }, 'https://fhir.example/kiln/fhir'],
    ['elsewhere host and port', { host: '10.0.0.5', port: '8443', ...TLS }, 'https://10.0.0.5:8443/fhir'],
    ['elsewhere host and port', { host: 'fd00::5', port: '8443', ...TLS }, 'https://[fd00::5]:8443/fhir'],
  ])('the FHIR base is %s', async (_what, flags, expected) => {
    expect((await open(flags)).app.baseUrl).toBe(expected);
  });

  it('only over plain http have connections to come from a proxy', async () => {
    const proxy = { 'proxy-trust': '10.0.0.7', 'base-url': 'https://localhost' };
    const plain = await open(proxy);
    const secure = await open({ ...proxy, ...TLS });
    const direct = await open({ 'base-url': 'https://localhost' });
    expect([plain, secure, direct].map(({ app }) => app.proxies !== undefined)).toEqual([true, false, false]);
    expect([plain, secure].map(({ tls }) => tls !== undefined)).toEqual([false, true]);
  });

  it('says where the certificate is for other hosts', async () => {
    const wrong = await open({ ...TLS, 'base-url': 'https://fhir.example' });
    expect(wrong.notes).toEqual(['the certificate is not for fhir.example: clients will refuse it']);
    expect((await open({ ...TLS, 'base-url': 'https://localhost:8443' })).notes).toEqual([]);
  });

  it('has no file, or a bad one, in one line', async () => {
    await expect(open({ ...TLS, 'tls-key': join(folder, 'none') })).rejects.toThrow(
      /^TLS: .*none cannot be read \(ENOENT\)$/,
    );
    await expect(open({ ...TLS, 'tls-key': TLS['tls-cert'] })).rejects.toThrow(
      /^TLS with .* holds no private key in PEM$/,
    );
  });
});
