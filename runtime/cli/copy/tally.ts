import { createHash } from 'node:crypto';

const MODULUS = 1n << 256n;

/** SHA-256 of some texts, none of which can be mistaken for a part of another. */
export function digestOf(...parts: readonly (string | number | undefined)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** A hash of many things that does not depend on their order: the sum of their SHA-256 hashes, modulo 2^256. */
export class HashSum {
  private sum = 0n;

  /** @param digest in hexadecimal digits, as `digestOf` gives it */
  add(digest: string): void {
    this.sum = (this.sum + BigInt(`0x${digest}`)) % MODULUS;
  }

  /** In hexadecimal digits. */
  toString(): string {
    return this.sum.toString(16).padStart(64, '0');
  }
}
