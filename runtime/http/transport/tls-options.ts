import { constants } from 'node:crypto';
import type { TlsOptions } from 'node:tls';

/** Suites with forward secrecy and authenticated encryption, ours first; the three of TLS 1.3 before them. RFC 9325, 4.2 */
const SUITES = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_AES_128_GCM_SHA256',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
];

/**
 * How TLS is spoken here: BCP 195 as RFC 9325 has it, with nothing left to Node's defaults, which take suites without forward
 * secrecy and let clients renegotiate. Without tickets there are no keys of tickets to rotate, nor to share between processes.
 */
export const TLS_OPTIONS = {
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.3',
  ciphers: SUITES.join(':'),
  honorCipherOrder: true,
  ecdhCurve: 'X25519:P-256:P-384',
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_NO_TICKET,
  ALPNProtocols: ['http/1.1'],
} as const satisfies TlsOptions;
