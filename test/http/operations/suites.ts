import type { Store } from '../../../runtime/store/store.js';
import { diff } from './diff.js';
import { operations } from './meta.js';

/** What operations do, whatever the store. Each suite gets a store of its own, with nothing in it. */
export const SUITES: Readonly<Record<string, (store: Store) => void>> = {
  operations,
  $diff: diff,
};
