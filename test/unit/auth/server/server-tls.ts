import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A private authority, and a certificate of it for a host. All in PEM. */
export interface Certificates {
  readonly ca: string;
  readonly key: string;
  readonly cert: string;
}

/** Made by openssl. @param names for the certificate: `DNS:localhost,IP:127.0.0.1` */
export function makeCertificates(names: string): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-tls-'));
  const file = (name: string): string => join(folder, name);
  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  };
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  try {
    openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=Test CA');
    openssl('req', ...key, '-keyout', 'key.pem', '-out', 'request.pem', '-subj', '/CN=test');
    writeFileSync(file('names'), `subjectAltName=${names}\n`);
    const from = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names'];
    openssl('x509', '-req', '-in', 'request.pem', ...from, '-days', '1', '-out', 'cert.pem');
    const [ca = '', made = '', cert = ''] = ['ca.pem', 'key.pem', 'cert.pem'].map((name) =>
      readFileSync(file(name), 'utf8'),
    );
    return { ca, key: made, cert };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A server on loopback. */
export interface LocalServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves on 127.0.0.1. */
export async function serveTls(
  { key, cert }: Certificates,
  listener: RequestListener,
  options: ServerOptions = {},
): Promise<LocalServer> {
  const server = createServer({ key, cert, ...options }, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
