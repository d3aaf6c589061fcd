import { greatest } from '../../fhir/lists.js';
import { counted, printable, type Terminal } from '../terminal.js';

/** Rows that a table is aligned by, and the greatest width of a column on a terminal, in characters. */
const TABLE = { rows: 1000, width: 60 };

/** A table as it is read. */
export interface PrintedTable {
  readonly names: readonly string[];
  readonly rows: AsyncIterable<readonly string[]>;
}

/** Prints a table and the number of its rows. Columns are as wide as what the first rows have. */
export async function printTable({ names, rows }: PrintedTable, terminal: Terminal): Promise<void> {
  const held: (readonly string[])[] = [names];
  let widths: readonly number[] | undefined;
  let count = 0;
  const print = (fields: readonly string[]): void =>
    terminal.out(
      fields
        .map((field, i) => cut(field).padEnd(widths?.[i] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  const flush = (): void => {
    widths = names.map((_, i) => greatest(held.map((fields) => cut(fields[i] ?? '').length)));
    const [first = [], ...others] = held;
    print(first);
    print(widths.map((width) => '-'.repeat(width)));
    others.forEach(print);
  };
  for await (const fields of rows) {
    count++;
    if (widths !== undefined) print(fields);
    else if (held.push(fields) > TABLE.rows) flush();
  }
  if (widths === undefined) flush();
  terminal.out(counted(count, 'row'));
}

function cut(field: string): string {
  const text = printable(field);
  return text.length > TABLE.width ? `${text.slice(0, TABLE.width - 1)}…` : text;
}
