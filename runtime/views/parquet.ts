import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';

import type { JsonValue } from '../fhir/resource.js';
import type { Column } from './column-kind.js';
import type { ViewRow } from './compile-view.js';
import { describeForm, formOf, TEXT, type Form, type Physical } from './parquet-forms.js';
import { RowError } from './view-error.js';

/** Rows of one group of a file. */
const GROUP = 10_000;

/**
 * Writes a table as a file of Apache Parquet, a group of rows at a time. https://parquet.apache.org/docs/file-format/
 *
 * @throws RowError where a column is complex, or its SQL type does not hold a value
 */
export async function* writeParquet(
  columns: readonly Column[],
  batches: AsyncIterable<readonly ViewRow[]>,
): AsyncGenerator<Uint8Array> {
  const forms = columns.map(formOf);
  const schema = columns.flatMap((column, i) => elementsOf(column, (forms[i] ?? TEXT).physical));
  const bytes = new ByteWriter();
  const root = { name: 'table', num_children: columns.length };
  const writer = new ParquetWriter({ writer: bytes, schema: [root, ...schema], createdBy: 'kiln' });
  const take = (): Uint8Array => {
    const written = bytes.getBytes().slice();
    bytes.index = 0;
    return written;
  };
  let data: unknown[][] = columns.map(() => []);
  const writeGroup = (): Uint8Array => {
    const columnData = columns.map(({ name }, i) => ({ name, data: data[i] ?? [] }));
    void writer.write({ columnData, rowGroupSize: GROUP });
    data = columns.map(() => []);
    return take();
  };
  for await (const rows of batches) {
    for (const row of rows) {
      for (const [i, column] of columns.entries()) data[i]?.push(valueOf(row[i] ?? null, column, forms[i] ?? TEXT));
      if (data[0]?.length === GROUP) yield writeGroup();
    }
  }
  if ((data[0]?.length ?? 0) > 0) yield writeGroup();
  void writer.finish();
  yield take();
}

function valueOf(cell: JsonValue, column: Column, { convert }: Form): unknown {
  const { name, isCollection } = column;
  if (cell === null) return null;
  const converted = (value: JsonValue): unknown => {
    const made = convert(value);
    if (made === undefined)
      throw new RowError(`the column ${name} has a value that ${describeForm(column)} does not hold`);
    return made;
  };
  return isCollection && Array.isArray(cell) ? cell.map(converted) : converted(cell);
}

function elementsOf({ name, isCollection }: Column, physical: Physical): SchemaElement[] {
  if (!isCollection) return [{ name, repetition_type: 'OPTIONAL', ...physical }];
  return [
    { name, repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST', logical_type: { type: 'LIST' } },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', repetition_type: 'OPTIONAL', ...physical },
  ];
}
