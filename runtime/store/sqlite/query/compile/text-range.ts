/**
 * The least text, by code points, that is greater than all that begin with this; undefined where there is none. Texts in
 * between are exactly those that begin so.
 */
export function afterPrefix(prefix: string): string | undefined {
  const points = [...prefix];
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = last.codePointAt(0) ?? 0;
    // Surrogates are no characters.
    if (point < 0x10ffff) return points.join('') + String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1);
  }
  return undefined;
}
