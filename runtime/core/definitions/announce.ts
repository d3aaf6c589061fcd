import { newId } from '../../fhir/id.js';
import type { Store } from '../../store/store.js';
import { SYSTEM_MAPS } from '../../store/system-maps.js';

/** The key that is written anew with each change of definitions. */
export const CHANGED = 'changed';

/**
 * Has all processes on a store look for definitions that changed.
 *
 * @returns what is written there now
 */
export async function announceChange({ maps }: Pick<Store, 'maps'>): Promise<string> {
  for (;;) {
    const present = await maps.get(SYSTEM_MAPS.definitions, CHANGED);
    const next = newId();
    if (await maps.swap(SYSTEM_MAPS.definitions, CHANGED, present, next)) return next;
  }
}
