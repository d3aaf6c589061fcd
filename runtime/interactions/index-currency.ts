import { notCurrent, type IndexMaker, type IndexRecord } from '../search/index-record.js';
import { OWN_MAPS } from '../store/own-maps.js';
import type { Store } from '../store/store.js';

const KEY = 'record';

/**
 * Finds out which search rows have index entries that were made by other definitions. A store without resources has
 * none, and remembers from now on that the present ones make them.
 *
 * @returns names of the rows: `Patient.name`
 */
export async function checkIndexCurrency(store: Pick<Store, 'maps' | 'counts'>, maker: IndexMaker): Promise<string[]> {
  const text = await store.maps.get(OWN_MAPS.index, KEY);
  const made = text === undefined ? undefined : (JSON.parse(text) as IndexRecord);
  if (made?.whole === maker.whole) return [];
  if ((await store.counts()).size > 0) return notCurrent(made, maker);
  const isSet = await store.maps.swap(OWN_MAPS.index, KEY, text, JSON.stringify(maker.record()));
  // Another process has just done the same.
  return isSet ? [] : checkIndexCurrency(store, maker);
}

/** Says which search rows have index entries that were made by other definitions. */
export interface IndexCurrency {
  /** Names of the rows: `Patient.name`. */
  notCurrent(): Promise<readonly string[]>;
}

/** How long what was found is believed, in milliseconds: `kiln reindex` may mend it at any time. */
const BELIEVED = 2000;

/**
 * Goes on to look until all are current, which then stays so.
 *
 * @param found names of the rows, as found just now
 * @param now the clock, in milliseconds
 */
export function watchIndexCurrency(
  store: Pick<Store, 'maps' | 'counts'>,
  maker: IndexMaker,
  found: readonly string[],
  now: () => number = Date.now,
): IndexCurrency {
  let rows = found;
  let looked = now();
  let looking: Promise<void> | undefined;
  const look = async (): Promise<void> => {
    try {
      rows = await checkIndexCurrency(store, maker);
    } catch {
      // A store that does not work for a moment says nothing new.
    }
    looked = now();
    looking = undefined;
  };
  return {
    async notCurrent() {
      if (rows.length > 0 && now() - looked >= BELIEVED) await (looking ??= look());
      return rows;
    },
  };
}

/** What an operator and a client should know about them; undefined: all are current. */
export function describeCurrency(rows: readonly string[]): string | undefined {
  if (rows.length === 0) return undefined;
  const some = rows.slice(0, 10).join(', ');
  const list = rows.length > 10 ? `${some} and ${rows.length - 10} more` : some;
  return `Index entries of ${list} were made by other definitions: searches by them may miss or add results`;
}
