import { DuckDBInstance } from '@duckdb/node-api';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { Decimal } from '../../../runtime/fhir/decimal.js';
import type { JsonObject, Resource } from '../../../runtime/fhir/resource.js';
import { compileView } from '../../../runtime/views/compile-view.js';
import { writeTable, type TableFormat } from '../../../runtime/views/formats.js';
import { readView } from '../../../runtime/views/read-view.js';
import { RowError } from '../../../runtime/views/view-error.js';

const folder = mkdtempSync(join(tmpdir(), 'kiln-parquet-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const COLUMNS: readonly (readonly [name: string, path: string, more?: JsonObject])[] = [
  ['id', 'id'],
  ['value', 'value.ofType(Quantity).value'],
  ['exact', 'value.ofType(Quantity).value', { tag: [{ name: 'ansi/type', value: 'DECIMAL(10,2)' }] }],
  ['issued', 'issued'],
  ['day', 'effective.ofType(dateTime)', { tag: [{ name: 'ansi/type', value: 'DATE' }] }],
  ['isFinal', "status = 'final'"],
  ['codes', 'code.coding.code', { collection: true }],
  ['place', '%rowIndex'],
];
const VIEW: JsonObject = {
  resource: 'Observation',
  select: [{ column: COLUMNS.map(([name, path, more]) => ({ name, path, ...more })) }],
};

const observation = (i: number): Resource => ({
  ...{ resourceType: 'Observation', id: `o${i}`, status: i % 2 === 0 ? 'final' : 'amended' },
  ...{ effectiveDateTime: '2020-02-29', issued: `2020-01-02T03:04:05.${String(i % 1000).padStart(3, '0')}+02:00` },
  ...(i % 3 > 0 && { valueQuantity: { value: new Decimal(`${i}.50`) } }),
  code: { coding: Array.from({ length: i % 3 }, (_, n) => ({ code: `c, "${n}"` })) },
});

async function fileOf(
  resources: readonly Resource[],
  view: JsonObject,
  format: Exclude<TableFormat, 'fhir'>,
): Promise<string> {
  const compiled = compileView(readView(view), tables, { now: new Date(0) });
  const pieces: Buffer[] = [];
  const batches = (async function* () {
    for (const each of resources) yield await Promise.resolve(compiled.rowsOf(each));
  })();
  for await (const piece of writeTable(compiled, batches, format, true)) pieces.push(Buffer.from(piece as string));
  const path = join(folder, `table-${pieces.length}.${format}`);
  writeFileSync(path, Buffer.concat(pieces));
  return path;
}

async function query(sql: string): Promise<readonly (readonly unknown[])[]> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  try {
    return (await connection.runAndReadAll(sql)).getRowsJson();
  } finally {
    connection.closeSync();
  }
}

describe('a table', () => {
  const resources = Array.from({ length: 12_000 }, (_, i) => observation(i));

  it('has the same values as csv, json, ndjson and Parquet', async () => {
    const types = `columns={id:'VARCHAR',value:'VARCHAR',exact:'DECIMAL(10,2)',issued:'TIMESTAMPTZ',day:'DATE',"isFinal":'BOOLEAN',codes:'VARCHAR',place:'INTEGER'}`;
    const columns = `id, value::DECIMAL(18,2), exact, epoch_us(issued), day, "isFinal", place`;
    const parquet = await fileOf(resources, VIEW, 'parquet');
    const rows = await query(`select ${columns}, codes from '${parquet}'`);
    expect(rows).toHaveLength(12_000);
    expect(rows[4]).toEqual(['o4', '4.50', '4.50', '1577927045004000', '2020-02-29', true, 0, ['c, "0"']]);
    expect(rows[3]).toEqual(['o3', null, null, '1577927045003000', '2020-02-29', false, 0, []]);
    expect(await query(`select value from '${parquet}' where id = 'o4'`)).toEqual([['4.50']]);
    const plain = rows.map((row) => row.slice(0, 7));
    const csv = await fileOf(resources, VIEW, 'csv');
    expect(await query(`select ${columns} from read_csv('${csv}', header=true, ${types})`)).toEqual(plain);
    for (const format of ['ndjson', 'json'] as const) {
      const file = await fileOf(resources, VIEW, format);
      expect(await query(`select ${columns} from read_json('${file}', ${types})`), format).toEqual(plain);
    }
  });

  it('has a schema without rows', async () => {
    const rows = await query(
      `select column_name, column_type from (describe select * from '${await fileOf([], VIEW, 'parquet')}')`,
    );
    expect(rows).toEqual([
      ['id', 'VARCHAR'], ['value', 'VARCHAR'], ['exact', 'DECIMAL(10,2)'], ['issued', 'TIMESTAMP WITH TIME ZONE'],
      ['day', 'DATE'], ['isFinal', 'BOOLEAN'], ['codes', 'VARCHAR[]'], ['place', 'INTEGER'],
    ]); // prettier-ignore
  });

  it('has instants of UTC, with a zone and without one', async () => {
    const tag = (value: string): JsonObject => ({ path: 'issued', tag: [{ name: 'ansi/type', value }] });
    const column = [
      { name: 'bare', ...tag('TIMESTAMP') },
      { name: 'zoned', ...tag('timestamp with time zone') },
    ];
    const issued = '2024-06-30T23:30:00.5-02:00';
    const file = await fileOf([{ ...observation(1), issued }], { ...VIEW, select: [{ column }] }, 'parquet');
    const rows = await query(`select bare::VARCHAR, epoch_us(zoned) = epoch_us(bare), typeof(zoned) from '${file}'`);
    expect(rows).toEqual([['2024-07-01 01:30:00.5', true, 'TIMESTAMP WITH TIME ZONE']]);
  });

  it('is refused where a value does not fit', async () => {
    await expect(fileOf([{ ...observation(1), effectiveDateTime: '2020' }], VIEW, 'parquet')).rejects.toThrow(RowError);
    await expect(
      fileOf([{ ...observation(1), valueQuantity: { value: new Decimal('1.005') } }], VIEW, 'parquet'),
    ).rejects.toThrow(RowError);
  });
});
