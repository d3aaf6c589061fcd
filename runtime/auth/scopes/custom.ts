/**
 * Whether one custom scope (`__admin.expunge`) gives another: itself, or, as umbrella, whatever is below its name.
 * They are known by name only; nothing of `system/` gives them.
 */
export function coversCustom(held: string, wanted: string): boolean {
  return held === wanted || wanted.startsWith(`${held}.`);
}
