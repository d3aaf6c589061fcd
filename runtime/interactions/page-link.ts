import { createCipheriv, createDecipheriv, createHmac, randomBytes, type DecipherGCM } from 'node:crypto';

import type { Interaction } from '../contract/index.js';
import { FhirError } from '../fhir/errors.js';
import type { AtomicMaps } from '../store/store.js';

/** What a page link is for. A token of one request is none for another. */
export interface PageBinding {
  readonly interaction: Interaction;
  readonly type?: string;
  readonly id?: string;
}

/** Where a walk through pages stands. */
export interface PageState {
  /** What was asked, as a query string without the parameters about form. */
  readonly query: string;
  /** Place in the store's order after which the next page begins. */
  readonly after: string;
}

/** The parameter that carries a token. */
export const PAGE_PARAMETER = '_page';

/**
 * Makes and reads the tokens of page links: opaque, encrypted and authenticated, and all that is known of a walk, so
 * that any process that shares the store can go on with it. A token lives at least 24 h, and less than 48.
 *
 * A query of more than 2 kB has to be put into the store first, and its id be the state's query: links stay short.
 */
export interface PageLinks {
  seal(binding: PageBinding, state: PageState): Promise<string>;
  /** @throws FhirError `page-invalid` */
  open(binding: PageBinding, token: string): Promise<PageState>;
}

const MAP = 'page-keys';
/** Long queries by their ids. */
const QUERIES = 'page-queries';
/** Longest query in a token, in characters; as part of a URL they are ASCII. */
const MAX_QUERY = 2048;
/** A key seals for one period, and opens for one more. In milliseconds. */
const PERIOD = 24 * 3600_000;
/** First byte of a token: what follows is laid out as here. */
const LAYOUT = 1;
const HEADER = 5;
const NONCE = 12;
const TAG = 16;
const SHORTEST = HEADER + NONCE + TAG;
const TOKEN = /^[A-Za-z0-9_-]{44,5500}$/;
const CIPHER = 'aes-256-gcm';

/**
 * Page links with keys in the store: one for each day, made by the process that first needs it.
 *
 * @param now the clock, in milliseconds
 */
export function createPageLinks(maps: AtomicMaps, now: () => number = Date.now): PageLinks {
  const keys = new Map<number, Buffer>();
  const periodNow = (): number => Math.floor(now() / PERIOD);

  async function findKey(period: number): Promise<Buffer | undefined> {
    const known = keys.get(period);
    if (known !== undefined) return known;
    const text = await maps.get(MAP, String(period));
    if (text === undefined) return undefined;
    const key = Buffer.from(text, 'base64');
    for (const old of keys.keys()) if (old < period - 1) keys.delete(old);
    keys.set(period, key);
    return key;
  }

  async function ensureKey(period: number): Promise<Buffer> {
    const known = await findKey(period);
    if (known !== undefined) return known;
    // Of several processes one wins, and all take its key.
    await maps.swap(MAP, String(period), undefined, randomBytes(32).toString('base64'), expiryOf(period));
    const made = await findKey(period);
    if (made === undefined) throw new Error('the store lost the key of page links');
    return made;
  }

  return {
    async seal(binding, { query, after }) {
      const period = periodNow();
      const key = await ensureKey(period);
      const header = Buffer.alloc(HEADER);
      header.writeUInt8(LAYOUT, 0);
      header.writeUInt32BE(period, 1);
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv(CIPHER, key, nonce);
      cipher.setAAD(bindingBytes(header, binding));
      const content =
        query.length <= MAX_QUERY ? [query, after] : ['', after, await keepQuery(maps, key, query, expiryOf(period))];
      const sealed = [cipher.update(JSON.stringify(content)), cipher.final()];
      return Buffer.concat([header, nonce, ...sealed, cipher.getAuthTag()]).toString('base64url');
    },

    async open(binding, token) {
      const bytes = TOKEN.test(token) ? Buffer.from(token, 'base64url') : Buffer.alloc(0);
      // Base64 has spare bits in the last letter: only one spelling of a token is good.
      if (bytes.length < SHORTEST || bytes[0] !== LAYOUT || bytes.toString('base64url') !== token) throw invalid();
      const header = bytes.subarray(0, HEADER);
      const period = header.readUInt32BE(1);
      // The clock of another process may be a little ahead.
      if (Math.abs(period - periodNow()) > 1) throw invalid();
      const key = await findKey(period);
      if (key === undefined) throw invalid();
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(HEADER, HEADER + NONCE), { authTagLength: TAG });
      decipher.setAAD(bindingBytes(header, binding));
      decipher.setAuthTag(bytes.subarray(bytes.length - TAG));
      const [query, after, kept] = readContent(decipher, bytes.subarray(HEADER + NONCE, bytes.length - TAG));
      if (kept === undefined) return { query, after };
      const whole = await maps.get(QUERIES, kept);
      if (whole === undefined) throw invalid();
      return { query: whole, after };
    },
  };
}

/** Nothing of a period is good for longer. */
function expiryOf(period: number): number {
  return (period + 2) * PERIOD;
}

/**
 * Puts a query into the store. Its id can only be told with the key of the period; the pages of one walk share it.
 *
 * @returns its id
 */
async function keepQuery(maps: AtomicMaps, key: Buffer, query: string, expires: number): Promise<string> {
  const id = createHmac('sha256', key).update(query).digest('base64url');
  await maps.swap(QUERIES, id, undefined, query, expires);
  return id;
}

/** Query, place, and of a long query the id. @throws FhirError `page-invalid` */
function readContent(decipher: DecipherGCM, sealed: Buffer): readonly [string, string, string?] {
  try {
    const text = decipher.update(sealed, undefined, 'utf8');
    return JSON.parse(text + decipher.final('utf8')) as [string, string, string?];
  } catch {
    throw invalid();
  }
}

function bindingBytes(header: Buffer, { interaction, type, id }: PageBinding): Buffer {
  return Buffer.concat([header, Buffer.from(JSON.stringify([interaction, type ?? null, id ?? null]))]);
}

function invalid(): FhirError {
  return new FhirError('page-invalid');
}
