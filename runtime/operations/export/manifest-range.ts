/** Most files of one manifest, as a power of two. */
const LARGEST = 4;

/**
 * The files that a manifest of an export with partial manifests lists, by their places: 1, 2, 4, 8 and then 16 of them. So the first is
 * there early, and a manifest that was read once stays what it was.
 */
export function manifestRange(page: number): { readonly from: number; readonly to: number } {
  const size = 2 ** Math.min(page, LARGEST);
  const from = page <= LARGEST ? 2 ** page - 1 : 2 ** LARGEST - 1 + (page - LARGEST) * size;
  return { from, to: from + size };
}
