import { openSqliteStore } from '../../runtime/store/sqlite/sqlite-store.js';
import type { Store } from '../../runtime/store/store.js';

/** What a test may set on any store. */
export interface StoreTestOptions {
  readonly now?: () => number;
  readonly queryBudget?: number;
  readonly faultAt?: string;
}

/** Opens the store behind a URL, whichever it is: here and in child processes. */
export function openStore(url: string, options: StoreTestOptions = {}): Store {
  return openSqliteStore(url, options as Parameters<typeof openSqliteStore>[1]);
}
