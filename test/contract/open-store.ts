import type { Store } from '../../runtime/store/store.js';

/** What a test may set on any store. */
export interface StoreTestOptions {
  readonly now?: () => number;
  readonly queryBudget?: number;
  readonly preconditionBudget?: number;
  readonly faultAt?: string;
  readonly faultAfter?: number;
  /** The sort slot of a parameter, where the store has such slots. */
  readonly slotOf?: (type: string, param: string) => number | undefined;
  /** Sees each command that is sent; where there are none, it sees nothing. */
  readonly onCommand?: (name: string) => void;
}

/** Opens the store behind a URL, whichever it is: here and in child processes. */
export async function openStore(url: string, options: StoreTestOptions = {}): Promise<Store> {
  if (url === 'toy:') {
    const { createToyStore } = await import('../toy/store.js');
    return createToyStore(options.now);
  }
  if (url.startsWith('sqlite:')) {
    const { openSqliteStore } = await import('../../runtime/store/sqlite/sqlite-store.js');
    return openSqliteStore(url, options as Parameters<typeof openSqliteStore>[1]);
  }
  const { openMongoStore } = await import('../../runtime/store/mongo/mongo-store.js');
  return openMongoStore(url, options as Parameters<typeof openMongoStore>[1]);
}
