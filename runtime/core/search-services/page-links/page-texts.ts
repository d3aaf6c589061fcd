import { createHmac } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';

import { FhirError } from '../../../fhir/errors.js';
import type { AtomicMaps } from '../../../store/store.js';

/** Texts that are too long for a page link. The store keeps them, and the link has their id. */
export interface PageTexts {
  /**
   * Stores a text. Its id can be computed with the key only; equal texts have the same id.
   *
   * @param expires milliseconds since the epoch
   * @returns its id
   * @throws FhirError `store-busy` where this process has stored `MOST.bytes` within the hour: a client may be filling the store
   */
  keep(key: Buffer, text: string, expires: number): Promise<string>;
  /** Undefined: the text is missing or has expired. */
  find(id: string): Promise<string | undefined>;
}

const MAP = 'page-queries';

/** Most that one process stores in one period, in compressed bytes; the period in milliseconds. */
const MOST = { bytes: 256 * 1024 * 1024, period: 3_600_000 };

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** @param most for tests */
export function createPageTexts(maps: AtomicMaps, now: () => number, most = MOST): PageTexts {
  let period = 0;
  let kept = 0;

  function checkRoom(size: number): void {
    const current = Math.floor(now() / most.period);
    if (current !== period) kept = 0;
    period = current;
    if (kept + size > most.bytes) {
      throw new FhirError(
        'store-busy',
        'Too many long searches have come in this hour; ask for fewer values at a time',
      );
    }
  }

  return {
    async keep(key, text, expires) {
      const id = createHmac('sha256', key).update(text).digest('base64url');
      if ((await maps.get(MAP, id)) !== undefined) return id;
      const value = (await deflate(text)).toString('base64');
      checkRoom(value.length);
      if (await maps.swap(MAP, id, undefined, value, expires)) kept += value.length;
      return id;
    },
    async find(id) {
      const value = await maps.get(MAP, id);
      return value === undefined ? undefined : (await inflate(Buffer.from(value, 'base64'))).toString('utf8');
    },
  };
}
