import { createCipheriv, createDecipheriv, randomBytes, randomFillSync, type DecipherGCM } from 'node:crypto';

import type { Interaction } from '../../../contract/index.js';
import { FhirError } from '../../../fhir/errors.js';
import type { AtomicMaps } from '../../../store/store.js';
import { createPageTexts } from './page-texts.js';

/** The request that a page link belongs to. A token is invalid for any other. */
export interface PageBinding {
  readonly interaction: Interaction;
  readonly type?: string;
  readonly id?: string;
  /** As in `Call`. */
  readonly member?: string;
}

/** How far a client has come through the pages. */
export interface PageState {
  /** The query string of the first page, without the parameters about form. */
  readonly query: string;
  /** The cursor after which the next page begins. */
  readonly after: string;
}

/** The parameter that carries a token. */
export const PAGE_PARAMETER = '_page';

/**
 * Makes and reads the tokens of page links. A token is opaque, encrypted and authenticated. It carries the whole state, so that
 * any process that shares the store can return the next page. It is valid for at least one period of its keys and less than two: 24 hours.
 *
 * Query and cursor that are longer than 2.5 kB together are kept in the store, the query from 2 kB on and the cursor from 512 bytes
 * on, so that links stay below 4 kB.
 */
export interface PageLinks {
  seal(binding: PageBinding, state: PageState): Promise<string>;
  /** @throws FhirError `page-invalid` */
  open(binding: PageBinding, token: string): Promise<PageState>;
}

/** Longest query and longest cursor in a token, in bytes; either may be longer where the other is shorter. */
const MAX_QUERY = 2048;
const MAX_AFTER = 512;
/** Where keys are, and how long a key encrypts, in milliseconds; it decrypts for as long again. */
export interface PageKeys {
  readonly map: string;
  readonly period: number;
}

/** Of the pages of searches and histories. */
const PAGES: PageKeys = { map: 'page-keys', period: 24 * 3600_000 };

/** Keys of the cursors of change feeds. They decrypt for longer than the log is kept. */
export const FEED_KEYS: PageKeys = { map: 'feed-keys', period: 8 * 24 * 3600_000 };
/** First byte of a token: the version of its layout. */
const LAYOUT = 1;
const HEADER = 5;
const NONCE = 12;
const TAG = 16;
const SHORTEST = HEADER + NONCE + TAG;
const TOKEN = /^[A-Za-z0-9_-]{44,5500}$/;
const CIPHER = 'aes-256-gcm';

/**
 * Page links with keys in the store, one for each period. The process that first needs a key makes it.
 *
 * @param now the clock, in milliseconds
 */
export function createPageLinks(
  maps: AtomicMaps,
  now: () => number = Date.now,
  { map, period: length }: PageKeys = PAGES,
): PageLinks {
  const keys = new Map<number, Buffer>();
  const texts = createPageTexts(maps, now);
  /** When all keys and texts of a period expire: milliseconds since the epoch. */
  const expiryOf = (period: number): number => (period + 2) * length;
  const periodNow = (): number => Math.floor(now() / length);

  async function findKey(period: number): Promise<Buffer | undefined> {
    const known = keys.get(period);
    if (known !== undefined) return known;
    const text = await maps.get(map, String(period));
    if (text === undefined) return undefined;
    const key = Buffer.from(text, 'base64');
    for (const old of keys.keys()) if (old < period - 1) keys.delete(old);
    keys.set(period, key);
    return key;
  }

  async function ensureKey(period: number): Promise<Buffer> {
    const known = await findKey(period);
    if (known !== undefined) return known;
    // Of several processes one succeeds, and all use its key.
    await maps.swap(map, String(period), undefined, randomBytes(32).toString('base64'), expiryOf(period));
    const made = await findKey(period);
    if (made === undefined) throw new Error('the store lost the key of page links');
    return made;
  }

  async function findText(id: string): Promise<string> {
    const text = await texts.find(id);
    if (text === undefined) throw invalid();
    return text;
  }

  return {
    async seal(binding, { query, after }) {
      const period = periodNow();
      const key = await ensureKey(period);
      const header = Buffer.alloc(HEADER);
      header.writeUInt8(LAYOUT, 0);
      header.writeUInt32BE(period, 1);
      const nonce = newNonce();
      const cipher = createCipheriv(CIPHER, key, nonce);
      cipher.setAAD(bindingBytes(header, binding));
      const keep = (text: string): Promise<string> => texts.keep(key, text, expiryOf(period));
      const content: Content = ['', ''];
      const [querySize, afterSize] = [sizeOf(query), sizeOf(after)];
      const fits = querySize + afterSize <= MAX_QUERY + MAX_AFTER;
      if (fits || querySize <= MAX_QUERY) content[0] = query;
      else content[2] = await keep(query);
      if (fits || afterSize <= MAX_AFTER) content[1] = after;
      else content.splice(2, 2, content[2] ?? '', await keep(after));
      const sealed = [cipher.update(JSON.stringify(content)), cipher.final()];
      return Buffer.concat([header, nonce, ...sealed, cipher.getAuthTag()]).toString('base64url');
    },

    async open(binding, token) {
      const bytes = TOKEN.test(token) ? Buffer.from(token, 'base64url') : Buffer.alloc(0);
      // Base64 has spare bits in the last letter: only one spelling of a token is accepted.
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
      const [query, after, keptQuery = '', keptAfter = ''] = readContent(
        decipher,
        bytes.subarray(HEADER + NONCE, bytes.length - TAG),
      );
      return {
        query: keptQuery === '' ? query : await findText(keptQuery),
        after: keptAfter === '' ? after : await findText(keptAfter),
      };
    },
  };
}

/** Nonces are drawn for many tokens together: a call for each costs more than the encryption. Each is used once. */
const NONCES = Buffer.allocUnsafeSlow(256 * NONCE);
let used = NONCES.length;

/** A copy: a token may take its time, and the others go on drawing. */
function newNonce(): Buffer {
  if (used === NONCES.length) {
    randomFillSync(NONCES);
    used = 0;
  }
  return Buffer.from(NONCES.subarray(used, (used += NONCE)));
}

/** Query and cursor; where one is too long, its id in the store instead. */
type Content = [query: string, after: string, keptQuery?: string, keptAfter?: string];

/** The size of a text within JSON, in bytes. */
function sizeOf(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}

/** @throws FhirError `page-invalid` */
function readContent(decipher: DecipherGCM, sealed: Buffer): Content {
  try {
    const text = decipher.update(sealed, undefined, 'utf8');
    return JSON.parse(text + decipher.final('utf8')) as Content;
  } catch {
    throw invalid();
  }
}

function bindingBytes(header: Buffer, { interaction, type, id, member }: PageBinding): Buffer {
  const parts = [interaction, type ?? null, id ?? null, ...(member === undefined ? [] : [member])];
  return Buffer.concat([header, Buffer.from(JSON.stringify(parts))]);
}

function invalid(): FhirError {
  return new FhirError('page-invalid');
}
