import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';

import { isSignedWell } from './signature-hash.js';
import { TLS_OPTIONS } from './tls-options.js';

/** Certificates and key that TLS uses, in PEM. */
export interface TlsMaterial {
  /** The server's certificate, and those between it and the root after it. */
  readonly cert: string;
  readonly key: string;
  /** Who signs certificates of clients; absent: clients need none. */
  readonly ca?: string;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const MIN_RSA_BITS = 2048;
const CURVES: readonly string[] = ['prime256v1', 'secp384r1', 'secp521r1'];

/**
 * The server's own certificate, after a look at everything that TLS would be spoken with. RFC 9325, 4.4 and 4.5
 *
 * @param now the clock, in milliseconds
 * @throws Error saying in some words what is weak, out of date or does not fit
 */
export function checkMaterial({ cert, key, ca }: TlsMaterial, now = Date.now()): X509Certificate {
  const [own, ...others] = readCertificates(cert, 'the certificate file');
  if (own === undefined) throw new Error('the certificate file holds no certificate in PEM');
  for (const each of [own, ...others]) checkCertificate(each, now, each === own);
  if (!own.checkPrivateKey(readKey(key))) throw new Error('the key is not that of the certificate');
  if (ca !== undefined && readCertificates(ca, 'the file of client authorities').length === 0) {
    throw new Error('the file of client authorities holds no certificate in PEM');
  }
  createSecureContext({ ...TLS_OPTIONS, cert, key, ca });
  return own;
}

/** Whether a certificate is for a host: a name, or an address (IPv6 in brackets or without). */
export function isFor(certificate: X509Certificate, host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, '$1');
  return (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;
}

/** The certificates of a file in PEM, in its order. @throws Error where one cannot be read */
export function readCertificates(pem: string, what: string): X509Certificate[] {
  return Array.from(pem.match(CERTIFICATE) ?? [], (text) => {
    try {
      return new X509Certificate(text);
    } catch {
      throw new Error(`${what} holds a certificate that cannot be read`);
    }
  });
}

function readKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    const isLocked = /passphrase|interrupted or cancelled/i.test(String(error));
    const fault = isLocked ? 'the key is encrypted; it has to be plain' : 'the key file holds no private key in PEM';
    throw new Error(fault, { cause: error });
  }
}

function checkCertificate(certificate: X509Certificate, now: number, isOwn: boolean): void {
  const { subject, issuer, validFrom, validTo, publicKey, raw } = certificate;
  const name = isOwn ? 'the certificate' : `the certificate of "${subject.replaceAll('\n', ', ')}"`;
  if (Date.parse(validTo) < now) throw new Error(`${name} has expired, on ${validTo}`);
  if (Date.parse(validFrom) > now) throw new Error(`${name} is not valid before ${validFrom}`);
  const { modulusLength = 0, namedCurve = '' } = publicKey.asymmetricKeyDetails ?? {};
  const type = publicKey.asymmetricKeyType ?? 'an unknown kind';
  if (type === 'rsa' || type === 'rsa-pss') {
    if (modulusLength < MIN_RSA_BITS) {
      throw new Error(`${name} has an RSA key of ${modulusLength} bits; it needs ${MIN_RSA_BITS}`);
    }
  } else if (type !== 'ec' || !CURVES.includes(namedCurve)) {
    throw new Error(
      `${name} has a key of ${namedCurve || type}; it needs RSA (${MIN_RSA_BITS} bits) or ECDSA (P-256 or better)`,
    );
  }
  // The signature of a root is not checked by clients: it is in a chain for completeness.
  const isRoot = !isOwn && subject === issuer;
  if (!isRoot && !isSignedWell(raw)) throw new Error(`${name} is signed with SHA-1 or worse; it needs SHA-256`);
}
