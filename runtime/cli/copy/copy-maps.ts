import { isSystemMap } from '../../store/system-maps.js';
import type { MapEntry, Store } from '../../store/store.js';

const PIECE = 200;

/** All entries of all maps, but those about the store itself. */
export async function* readMaps(maps: Pick<Store['maps'], 'scan'>): AsyncGenerator<readonly MapEntry[]> {
  let after: string | undefined;
  do {
    const { entries, next } = await maps.scan(after, PIECE);
    yield entries.filter(({ map }) => !isSystemMap(map));
    after = next;
  } while (after !== undefined);
}

/**
 * Makes the maps of a target those of a source.
 *
 * @throws Error where another process changes them
 */
export async function copyMaps(source: Pick<Store['maps'], 'scan' | 'get'>, target: Store['maps']): Promise<void> {
  for await (const entries of readMaps(source)) {
    await Promise.all(
      entries.map(async ({ map, key, value, expires }) => {
        const before = await target.get(map, key);
        const isSet = await target.swap(map, key, before, value, expires);
        if (!isSet) throw new Error(`something else writes to the map ${map} of the target`);
      }),
    );
  }
  for await (const entries of readMaps(target)) {
    await Promise.all(
      entries.map(async ({ map, key }) => {
        if ((await source.get(map, key)) === undefined) await target.delete(map, key);
      }),
    );
  }
}
