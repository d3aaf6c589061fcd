/**
 * About how much there is of a value of JSON: its texts and names in UTF-16 code units, and something for each other value. Its
 * JSON text has at most six times as many bytes.
 *
 * @param most as soon as there is more than that, it is not looked at further
 */
export function sizeOf(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length + 1;
  if (typeof value !== 'object' || value === null) return OTHER;
  let size = 1;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && size <= most; i++) size += sizeOf(value[i], most - size);
    return size;
  }
  const object = value as Readonly<Record<string, unknown>>;
  for (const name in object) {
    if (size > most) break;
    size += name.length + 1 + sizeOf(object[name], most - size);
  }
  return size;
}

/** A number, a boolean. */
const OTHER = 8;
