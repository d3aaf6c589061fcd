import type { PlaceEntry } from '../../indexing/entry.js';
import type { PlaceTest } from '../query/query.js';
import { isInStrip } from '../../indexing/places/regions.js';
import { isWithinChord, squaredChord, toVector } from '../../indexing/places/sphere.js';

/** Whether a place fulfils a test; one of another kind does not. */
export function fulfilsPlace(entry: PlaceEntry, test: PlaceTest): boolean {
  if (test.is === 'around') return entry.kind === 'region' && isInStrip(entry, test);
  return entry.kind === 'position' && isWithinChord(toVector(entry), toVector(test), squaredChord(test.distance));
}
