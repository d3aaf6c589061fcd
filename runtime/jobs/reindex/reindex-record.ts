import { withRows, type IndexMaker } from '../../indexing/index-record.js';
import { SYSTEM_MAPS } from '../../store/system-maps.js';
import type { Store } from '../../store/store.js';
import { readIndexRecord, swapIndexRecord } from '../../core/definitions/index-status.js';

/** Progress of reindexing one type. Stored as JSON in the system map of reindexing. */
interface Position {
  /** Hash of the definitions and the epoch of the index record: progress counts only while both are the same. */
  readonly by: string;
  /** `FindPage.next` of the last reindexed page; absent before the first one. */
  readonly after?: string;
  readonly isDone: boolean;
}

/** Progress of a reindexing, kept in the store so that an interrupted run can resume. */
export interface ReindexRecord {
  /** Whether a type is done, or the cursor to resume at. */
  read(type: string): Promise<Pick<Position, 'after' | 'isDone'>>;
  /** Saves a cursor in a type, unless another process has already finished the type. */
  advance(type: string, after: string): Promise<void>;
  finish(type: string): Promise<void>;
  /**
   * Marks the index of these types as current. Parameters that types share are marked when all types are done.
   *
   * @param all types that have resources
   * @throws Error if a process with other definitions has begun to write
   */
  settle(types: readonly string[], all: readonly string[]): Promise<void>;
}

/** Opens the record of the maker's definitions. Progress made with other definitions, or in an earlier epoch, is ignored. */
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
      // A reindexing that is started while the index is current has to process everything again.
      for (const type of new Set([...types, ...all])) await maps.delete(SYSTEM_MAPS.reindex, type);
    },
  };
}
