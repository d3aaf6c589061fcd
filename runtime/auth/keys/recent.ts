import { createBoundedMap } from './bounded-map.js';

/** Characters at the end of a text that it is looked up by: of a token, part of its signature. */
const TAIL = 16;

/**
 * Remembers what the texts asked for last came to. To look a long text up by the whole of it takes longer than to read most
 * resources, so it is looked up by its end, and then compared: who does not know the end learns nothing from how long that takes.
 *
 * @param most greatest number of texts
 */
export function createRecent<V>(most: number): {
  get(text: string): V | undefined;
  set(text: string, value: V): void;
} {
  const known = createBoundedMap<{ readonly text: string; readonly value: V }>(most);
  return {
    get(text) {
      const found = known.get(text.slice(-TAIL));
      return found !== undefined && found.text === text ? found.value : undefined;
    },
    set: (text, value) => known.set(text.slice(-TAIL), { text, value }),
  };
}
