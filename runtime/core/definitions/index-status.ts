import { searchDefinitions, type SearchTables } from '../../indexing/definitions.js';
import type { UsedParameter } from '../../search/parse/used-by.js';
import { BASES, staleNames, withWriter, type IndexMaker, type IndexRecord } from '../../indexing/index-record.js';
import { SYSTEM_MAPS } from '../../store/system-maps.js';
import type { Store } from '../../store/store.js';

const KEY = 'record';

/** The record of a store, as text too, by which it can be replaced; undefined: there is none. */
export async function readIndexRecord(
  store: Pick<Store, 'maps'>,
): Promise<{ readonly text: string | undefined; readonly record: IndexRecord | undefined }> {
  const text = await store.maps.get(SYSTEM_MAPS.index, KEY);
  return { text, record: text === undefined ? undefined : (JSON.parse(text) as IndexRecord) };
}

/** @param text the present one @returns whether it was that still */
export function swapIndexRecord(
  store: Pick<Store, 'maps'>,
  text: string | undefined,
  record: IndexRecord,
): Promise<boolean> {
  return store.maps.swap(SYSTEM_MAPS.index, KEY, text, JSON.stringify(record));
}

/**
 * Finds out which search rows have index entries that were made by other definitions. A store without resources has
 * none, and remembers from now on that the present ones make them.
 *
 * @returns names of the rows: `Patient.name`
 */
export async function readIndexStatus(store: Pick<Store, 'maps' | 'counts'>, maker: IndexMaker): Promise<string[]> {
  const { text, record } = await readIndexRecord(store);
  if (record?.whole === maker.whole) return [];
  if ((await store.counts()).size > 0) return staleNames(record, maker);
  // Another process may just have done the same.
  return (await swapIndexRecord(store, text, maker.record())) ? [] : readIndexStatus(store, maker);
}

/** Remembers that entries are made by these definitions from now on, beside those that are there. */
export async function markWriter(store: Pick<Store, 'maps'>, maker: IndexMaker): Promise<void> {
  for (;;) {
    const { text, record } = await readIndexRecord(store);
    const marked = withWriter(record, maker);
    if (marked === undefined || (await swapIndexRecord(store, text, marked))) return;
  }
}

/** Says which search rows have index entries that were made by other definitions. */
export interface IndexStatus {
  /**
   * Names of the rows: `Patient.name`.
   *
   * @param at `now`: what was found before is not believed, for another process may write by other definitions by now
   * @throws FhirError with `now`, where the store cannot say
   */
  notCurrent(at?: 'now'): Promise<readonly string[]>;
}

/** How long what was found is believed, in milliseconds: `kiln reindex` may mend it at any time. */
const BELIEVED = 2000;

/**
 * Goes on to look until all are current, which is believed then, but by those who ask how it is now.
 *
 * @param found names of the rows, as found just now
 * @param now the clock, in milliseconds
 */
export function watchIndexStatus(
  store: Pick<Store, 'maps'>,
  maker: IndexMaker,
  found: readonly string[],
  now: () => number = Date.now,
): IndexStatus {
  let rows = found;
  let looked = now();
  let looking: Promise<void> | undefined;
  const lookNow = async (): Promise<void> => {
    rows = staleNames((await readIndexRecord(store)).record, maker);
    looked = now();
  };
  const look = async (): Promise<void> => {
    try {
      await lookNow();
    } catch {
      // A store that does not work for a moment says nothing new.
      looked = now();
    }
    looking = undefined;
  };
  return {
    async notCurrent(at) {
      if (at === 'now') await lookNow();
      else if (rows.length > 0 && now() - looked >= BELIEVED) await (looking ??= look());
      return rows;
    },
  };
}

/** Describes, for operators and clients, the parameters whose index entries are stale; undefined: all are current. */
export function describeStaleIndex(rows: readonly string[]): string | undefined {
  const names = rows.filter((name) => name !== BASES);
  const some = names.slice(0, 10).join(', ');
  const list = names.length > 10 ? `${some} and ${names.length - 10} more` : some;
  const texts = [
    ...(names.length === 0 ? [] : [`Index entries of ${list} were made by other definitions: searches by them`]),
    ...(names.length === rows.length
      ? []
      : ['References were indexed for another base URL: searches by absolute ones']),
  ];
  return texts.length === 0 ? undefined : `${texts.join(', and ')} may miss or add results until kiln reindex is run`;
}

/** Parameters that have no index entries: they are part of the resource's row. */
const HEAD: ReadonlySet<string> = new Set(['_id', '_lastUpdated']);

/**
 * Names of the stale search rows among those that a search uses: the search may miss or add results.
 *
 * Another process may change stored parameters at any time. A search that uses one therefore looks the status up anew, and the
 * answer after a search holds for that search. So does what was not current before it: a reindexing that ended meanwhile had not come to
 * all that the search looked at.
 *
 * @param used the parameters of its criteria (`usedBy`), its order and its includes
 * @param before after a search: what `notCurrent` said before it
 */
export async function staleParameters(
  { used, before = [] }: { readonly used: readonly UsedParameter[]; readonly before?: readonly string[] },
  { indexStatus, tables }: { readonly indexStatus: IndexStatus; readonly tables: SearchTables },
): Promise<string[]> {
  const after = await indexStatus.notCurrent(usesStored(used, tables) ? 'now' : undefined);
  const rows = new Set([...before, ...after]);
  if (rows.size === 0) return [];
  const { recordName } = searchDefinitions(tables);
  const names = used.filter(({ code }) => !HEAD.has(code)).map(({ type, code }) => recordName(type, code) ?? code);
  return [...new Set(names)].filter((name) => rows.has(name));
}

/** Whether a SearchParameter resource in the store defines some of the parameters. */
export function usesStored(used: readonly UsedParameter[], tables: SearchTables): boolean {
  const { rowsOf } = searchDefinitions(tables);
  return used.some(({ type, code }) => rowsOf(type).get(code)?.isStored === true);
}
