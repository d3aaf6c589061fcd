import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate that signs itself, and its key, in PEM. */
export interface Made {
  readonly cert: string;
  readonly key: string;
}

/** Kinds of keys, as options of openssl. */
export const KEYS = {
  rsa: ['-newkey', 'rsa:2048'],
  shortRsa: ['-newkey', 'rsa:1024'],
  ec: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  shortEc: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-192'],
  ed25519: ['-newkey', 'ed25519'],
} as const;

/** Made by openssl, for localhost and 127.0.0.1, good for two days. @param more options of `openssl req` */
export function makeCertificate(key: keyof typeof KEYS, ...more: readonly string[]): Made {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-certificate-'));
  const names = ['-subj', '/CN=test', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const args = ['req', '-x509', ...KEYS[key], '-nodes', '-days', '2', '-keyout', 'key.pem', '-out', 'cert.pem'];
  try {
    execFileSync('openssl', [...args, ...names, ...more], { cwd: folder, stdio: 'ignore' });
    const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
    return { cert: read('cert.pem'), key: read('key.pem') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
