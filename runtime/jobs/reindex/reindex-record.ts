import { withRows, type IndexMaker } from '../../search/index-record.js';
import { SYSTEM_MAPS } from '../../store/system-maps.js';
import type { Store } from '../../store/store.js';
import { readIndexRecord, swapIndexRecord } from '../../core/definitions/index-status.js';

/** How far the entries of one type are made anew, by whom. */
interface Position {
  /** Definitions, and the time since which nobody writes by others. */
  readonly by: string;
  /** `FindPage.next` of the last page that was done; absent: none was. */
  readonly after?: string;
  readonly isDone: boolean;
}

/** What a store remembers of a reindexing, so that it can go on. */
export interface ReindexRecord {
  /** Whether a type is done, or where to go on with it. */
  read(type: string): Promise<Pick<Position, 'after' | 'isDone'>>;
  /** Remembers a place in a type; not where another process is through with it already. */
  advance(type: string, after: string): Promise<void>;
  finish(type: string): Promise<void>;
  /**
   * Searches by the parameters of these types are right from now on, and by what they inherit if no other type is left.
   *
   * @param all types that have resources
   * @throws Error where somebody has begun to write by other definitions
   */
  settle(types: readonly string[], all: readonly string[]): Promise<void>;
}

/** What was done by other definitions, or before others wrote, counts no more. */
export async function openReindexRecord(store: Pick<Store, 'maps'>, maker: IndexMaker): Promise<ReindexRecord> {
  const { maps } = store;
  const epoch = (await readIndexRecord(store)).record?.epoch ?? 0;
  const by = `${maker.whole} ${epoch}`;

  async function look(type: string): Promise<{ readonly text: string | undefined; readonly position: Position }> {
    const text = await maps.get(SYSTEM_MAPS.reindex, type);
    const position = text === undefined ? undefined : (JSON.parse(text) as Position);
    return { text, position: position?.by === by ? position : { by, isDone: false } };
  }

  async function put(type: string, next: Position): Promise<void> {
    for (;;) {
      const { text, position } = await look(type);
      if (position.isDone && text !== undefined) return;
      if (await maps.swap(SYSTEM_MAPS.reindex, type, text, JSON.stringify(next))) return;
    }
  }

  return {
    read: async (type) => (await look(type)).position,
    advance: (type, after) => put(type, { by, after, isDone: false }),
    finish: (type) => put(type, { by, isDone: true }),
    async settle(types, all) {
      const positions = await Promise.all(all.map(look));
      const isAll = positions.every(({ position }) => position.isDone);
      const own = new Set(types);
      for (;;) {
        const { text, record } = await readIndexRecord(store);
        if (record?.whole === maker.whole) break;
        if ((record?.epoch ?? 0) !== epoch) {
          throw new Error(
            'the definitions have changed meanwhile, or a server with others has begun to write: stop that one, and begin again',
          );
        }
        const next = withRows(record, maker, (name) => isAll || own.has(name.slice(0, name.indexOf('.'))));
        if (await swapIndexRecord(store, text, next)) {
          if (next.whole === maker.whole) break;
          return;
        }
      }
      // Whoever begins again when all is current wants it all anew.
      for (const type of new Set([...types, ...all])) await maps.delete(SYSTEM_MAPS.reindex, type);
    },
  };
}
