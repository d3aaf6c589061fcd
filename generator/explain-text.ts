/** Greatest number of names in a list. */
const MANY = 40;

/** Up to three names of which this one may be a misspelling, the nearest first. */
export function nearest(name: string, known: readonly string[]): string[] {
  const limit = Math.max(2, Math.floor(name.length / 3));
  return [...new Set(known)]
    .map((candidate) => ({ candidate, far: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ far }) => name !== '' && far <= limit)
    .sort((a, b) => a.far - b.far || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/** Levenshtein's distance. */
function distance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [row, left] of [...a].entries()) {
    const current = [row + 1];
    for (const [column, right] of [...b].entries()) {
      const change = (previous[column] ?? 0) + (left === right ? 0 : 1);
      current.push(Math.min(change, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}

/** Lines in order, without spaces at their ends and without more than one empty line in a row. */
export function text(...parts: readonly (string | readonly string[])[]): string {
  return parts
    .flat()
    .join('\n')
    .replaceAll(/[^\S\n]+$/gm, '')
    .replaceAll(/\n{3,}/g, '\n\n');
}

/** A title over lines; nothing if there are no lines. */
export function titled(title: string, below: readonly string[]): string[] {
  return below.length === 0 ? [] : [title, ...below];
}

/** Names in a row, wrapped at about 100 columns. */
export function wrapped(names: readonly string[]): string[] {
  const shown = names.length > MANY ? [...names.slice(0, MANY), `and ${String(names.length - MANY)} more`] : names;
  return (
    shown
      .join(', ')
      .match(/.{1,98}(?:,(?= )|$)|[^ ]+/g)
      ?.map((line) => `  ${line.trim()}`) ?? []
  );
}

/** Aligned columns: each but the last is as wide as its widest cell. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, index) => (widths[index] = Math.max(widths[index] ?? 0, cell.length)));
  return rows.map(
    (row) =>
      `  ${row.map((cell, index) => (index < row.length - 1 ? cell.padEnd(widths[index] ?? 0) : cell)).join('  ')}`,
  );
}
