import { createBoundedMap } from '../../fhir/memory/bounded-map.js';

/** Characters at the end of a text that it is looked up by: of a token, part of its signature. */
const TAIL = 16;

/** Cache of the values that were computed from the texts of recent requests. */
export interface Recent<V> {
  get(text: string): V | undefined;
  set(text: string, value: V): void;
}

/**
 * Remembers what the texts asked for last came to. To look a long text up by the whole of it takes longer than to read most
 * resources, so it is looked up by its end, and compared only where that is the same: who does not know the end learns nothing
 * from how long that takes.
 *
 * @param most greatest number of texts
 */
export function createRecent<V>(most: number): Recent<V> {
  const known = createBoundedMap<{ readonly text: string; readonly value: V }, number>(most);
  return {
    get(text) {
      const found = known.get(keyOf(text));
      return found !== undefined && endsAlike(found.text, text) && found.text === text ? found.value : undefined;
    },
    set: (text, value) => known.set(keyOf(text), { text, value }),
  };
}

function keyOf(text: string): number {
  let key = 0;
  for (let i = Math.max(0, text.length - TAIL); i < text.length; i++) key = (31 * key + text.charCodeAt(i)) | 0;
  return key;
}

/** Takes the same time wherever they differ. */
function endsAlike(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let i = Math.max(0, one.length - TAIL); i < one.length; i++) {
    difference |= one.charCodeAt(i) ^ other.charCodeAt(i);
  }
  return difference === 0;
}
