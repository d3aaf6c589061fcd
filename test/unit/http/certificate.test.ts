import { createPrivateKey, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';

import { checkMaterial, isFor } from '../../../runtime/http/transport/certificate.js';
import { isSignedWell } from '../../../runtime/http/transport/signature-hash.js';
import { makeCertificate } from './make-certificate.js';

const DAY = 86_400_000;

describe('certificates that TLS is spoken with (RFC 9325, 4.4 and 4.5)', () => {
  const ec = makeCertificate('ec');
  const rsa = makeCertificate('rsa');
  const pss = ['-sigopt', 'rsa_padding_mode:pss'];

  it.each([
    ['ECDSA of P-256', ec],
    ['RSA of 2048 bits', rsa],
    ['RSASSA-PSS with SHA-256', makeCertificate('rsa', ...pss)],
    ['a chain', { cert: ec.cert + rsa.cert, key: ec.key }],
    [
      'a chain with an old root that signs itself with SHA-1',
      {
        cert: ec.cert + makeCertificate('rsa', '-sha1').cert,
        key: ec.key,
      },
    ],
    ['authorities of clients', { ...ec, ca: rsa.cert }],
  ])('%s is taken', (_what, material) => {
    expect(checkMaterial(material).subject).toBe('CN=test');
  });

  const locked = createPrivateKey(ec.key).export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-256-cbc',
    passphrase: 'x',
  }) as string;

  it.each([
    ['RSA of 1024 bits', makeCertificate('shortRsa'), 'an RSA key of 1024 bits; it needs 2048'],
    ['ECDSA of P-192', makeCertificate('shortEc'), 'a key of prime192v1; it needs RSA (2048 bits) or ECDSA'],
    ['Ed25519', makeCertificate('ed25519'), 'a key of ed25519; it needs RSA'],
    ['SHA-1', makeCertificate('rsa', '-sha1'), 'is signed with SHA-1 or worse'],
    ['SHA-1 in ECDSA', makeCertificate('ec', '-sha1'), 'is signed with SHA-1 or worse'],
    ['SHA-1 in RSASSA-PSS', makeCertificate('rsa', '-sha1', ...pss), 'is signed with SHA-1 or worse'],
    ['another key', { cert: ec.cert, key: rsa.key }, 'the key is not that of the certificate'],
    ['an encrypted key', { cert: ec.cert, key: locked }, 'the key is encrypted'],
    ['no key', { cert: ec.cert, key: ec.cert }, 'holds no private key'],
    ['no certificate', { cert: ec.key, key: ec.key }, 'the certificate file holds no certificate'],
    ['no authority', { ...ec, ca: 'x' }, 'the file of client authorities holds no certificate'],
    ['half a certificate', { cert: ec.cert.replace('\nM', '\nN'), key: ec.key }, 'cannot be read'],
    [
      'a weak one in the chain',
      { cert: ec.cert + makeCertificate('shortRsa').cert, key: ec.key },
      '"CN=test" has an RSA',
    ],
  ])('%s is refused', (_what, material, message) => {
    expect(() => checkMaterial(material)).toThrow(message);
    expect(() => checkMaterial(material)).not.toThrow('\n');
  });

  it('is within its time', () => {
    expect(() => checkMaterial(ec, Date.now() + 3 * DAY)).toThrow(/^the certificate has expired, on /);
    expect(() => checkMaterial(ec, Date.now() - DAY)).toThrow(/^the certificate is not valid before /);
  });

  it('knows its names and addresses', () => {
    const certificate = new X509Certificate(ec.cert);
    const hosts = ['localhost', 'LOCALHOST', '127.0.0.1', 'example.org', '127.0.0.2', '[::1]'];
    expect(hosts.filter((host) => isFor(certificate, host))).toEqual(['localhost', 'LOCALHOST', '127.0.0.1']);
  });

  it('what is cut off is no certificate', () => {
    const { raw } = new X509Certificate(ec.cert);
    expect(isSignedWell(raw)).toBe(true);
    expect(() => isSignedWell(raw.subarray(0, 100))).toThrow(RangeError);
  });
});
