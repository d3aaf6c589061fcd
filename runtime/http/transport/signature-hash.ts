/** Where a value of DER begins and ends. */
interface Value {
  readonly start: number;
  readonly end: number;
}

/** What signs well enough, by the identifiers of algorithms in hexadecimal. RFC 5758, RFC 8017, RFC 8410 */
const STRONG = new Set([
  '2a864886f70d01010b', // sha256WithRSAEncryption
  '2a864886f70d01010c', // sha384WithRSAEncryption
  '2a864886f70d01010d', // sha512WithRSAEncryption
  '2a8648ce3d040302', // ecdsa-with-SHA256
  '2a8648ce3d040303', // ecdsa-with-SHA384
  '2a8648ce3d040304', // ecdsa-with-SHA512
  '2b6570', // Ed25519
  '2b6571', // Ed448
]);

/** RSASSA-PSS, whose hash is among its parameters (SHA-1 where none is), and the beginning of SHA-256, SHA-384 and SHA-512. */
const PSS = '2a864886f70d01010a';
const SHA2 = /6086480165030402(?:01|02|03)/;

/**
 * Whether a certificate is signed with SHA-256 or better: OpenSSL takes others in chains, and Node 20 does not tell.
 *
 * @param der `Certificate ::= SEQUENCE { tbsCertificate, signatureAlgorithm, signature }`
 * @throws RangeError for what is no certificate
 */
export function isSignedWell(der: Buffer): boolean {
  const certificate = valueAt(der, 0);
  const signed = valueAt(der, certificate.start);
  const algorithm = valueAt(der, signed.end);
  const name = valueAt(der, algorithm.start);
  const id = der.toString('hex', name.start, name.end);
  return STRONG.has(id) || (id === PSS && SHA2.test(der.toString('hex', name.end, algorithm.end)));
}

/** The content of the element that begins at an offset. X.690, 8.1 */
function valueAt(der: Buffer, offset: number): Value {
  const first = der.readUInt8(offset + 1);
  const bytes = first < 0x80 ? 0 : first & 0x7f;
  const start = offset + 2 + bytes;
  const length = bytes === 0 ? first : der.readUIntBE(offset + 2, bytes);
  return { start, end: start + length };
}
