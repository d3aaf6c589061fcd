import { ALGORITHMS, type SignatureAlgorithm } from '../jwks/algorithms.js';
import type { Jwk } from '../jwks/jwk.js';

/**
 * Keys that are used where none was found: checking a signature with them, always in vain, takes the time that it takes for a
 * client that is known. Their private halves were thrown away, and it would not matter if they were known.
 */
const DECOYS: Readonly<Record<string, Jwk>> = {
  RSA: {
    kty: 'RSA',
    n: 'nOcc0pOb8_7sAdTaEHn1HDOHJgDHNoBOdt6EJ0mkGxuS6lqNf-8JWdudG4Yhz6_cZG8owaDBghzZMYQd_ejJ_vF7mBkNtJxqT4Dvfn-pZrXpRrNPCod_-cdK7XBQWGj8KgelbuFfqeZjQTieA36MCqoBeYuSFu5KdnAk-NzkuH5APHKX4HmvEtv0yvHddi4mm79Xc4ZWwViaIRq2ZT1Giv2Pd5kBBO7EnhE6wBNfa5R3d1eWdTC-uRr2KDRhofWBvL2Y5OeaIcraUe8D20OdpHRaoAbNSPKqthJL36KkIWYzPsYcBgIEP6ys4Y229jEdlUuN8ybz3Y7UJQ1CTQrdgw',
    e: 'AQAB',
  },
  'P-256': {
    kty: 'EC',
    x: 'YixvNUHtIntEhj6s9bBtbILQCdEn1gZmtTIofW_sA70',
    y: 'jYRIdr_3Q9M7yj8zMOK9Z8POuY4bZ-odTOLEhhF72eY',
    crv: 'P-256',
  },
  'P-384': {
    kty: 'EC',
    x: 'YI_M0XrOqbinbhfi8lQ4ucYeoabouSxUbItwcITu9MxXTKZaRK1yCoSbSo7Qw05P',
    y: 'ARXOVQOBpAH_1TPmeuMrRbg_uB4QPmzcA1AJGXkenIPOFZDSFDr2iSwZlPrbYffJ',
    crv: 'P-384',
  },
  'P-521': {
    kty: 'EC',
    x: 'AIByjgZMa1Ej4FJ1QCC4XkRgLXLBCVlidZtYzBGtoi9BsrZMZ8CwmLICceAWlNCZKkWsA-sPN371b237dKIXjA_M',
    y: 'AU80-xfkTftoundI2pHIK7YPY6MzJKlSIrM063eT-b3EQRvxVa1i39hn1fCs-Os5_PDxOP3zo9kYVgkOfUTfNssC',
    crv: 'P-521',
  },
  Ed25519: { crv: 'Ed25519', x: 'YMR8Kr36R4F9eOMA_SvXZTEbK4PHrJtV4Z4jF-AQ1jg', kty: 'OKP' },
};

/** A key for the algorithm that verifies nothing of anybody's. */
export function decoyKey(alg: SignatureAlgorithm): Jwk {
  const { kty, crv } = ALGORITHMS[alg];
  return DECOYS[crv ?? kty]!;
}
