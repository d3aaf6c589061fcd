import { printCondition } from '../../search/query/print.js';
import type { ResourceKey, Store } from '../../store/store.js';
import { storeView } from '../store-view.js';
import type { Matches, WriteView } from '../write-plan.js';

/**
 * The store as one attempt of a transaction sees it: what was asked once is not asked again, and what is asked for
 * beforehand comes in one go.
 *
 * @param keys resources that are read at once
 */
export async function memoView(
  store: Pick<Store, 'read' | 'readMany' | 'find'>,
  keys: readonly ResourceKey[],
): Promise<WriteView> {
  const view = storeView(store);
  const read = keys.length === 0 ? [] : await store.readMany(keys);
  const versions = new Map(keys.map(({ type, id }, i) => [`${type}/${id}`, read[i]]));
  const asked = new Map<string, { readonly most: number; readonly matches: Promise<Matches> }>();
  return {
    async read(type, id) {
      const name = `${type}/${id}`;
      return versions.has(name) ? versions.get(name) : view.read(type, id);
    },
    async match(type, where, most) {
      const key = `${type}?${printCondition(where)}`;
      const before = asked.get(key);
      if (before !== undefined) {
        const { found } = await before.matches;
        if (before.most >= most || found.length < before.most) return before.matches;
      }
      const matches = view.match(type, where, most);
      asked.set(key, { most, matches });
      return matches;
    },
  };
}
