import { describe, expect, it } from 'vitest';

import type { Column } from '../../../runtime/views/column-kind.js';
import type { ViewRow } from '../../../runtime/views/compile-view.js';
import type { SqlQuery } from '../../../runtime/views/query/messages.js';
import { runQuery } from '../../../runtime/views/query/run-query.js';

const COLUMN: Column = { name: 'v', type: 'string', kind: 'text', isCollection: false, isOpen: false };

/** The rows of a query over a table of so many rows with a text of some length. */
async function rowsOf(query: SqlQuery, count: number, length: number, limits: { rows: number; pages: number }) {
  const open = async function* (): AsyncGenerator<readonly ViewRow[]> {
    for (let n = 0; n < count; n++) yield [['x'.repeat(length)]];
  };
  const rows: ViewRow[] = [];
  for await (const { batches } of runQuery(query, [{ columns: [COLUMN], open }], undefined, limits))
    for await (const batch of batches) rows.push(...batch);
  return rows.length;
}

describe('the tables of a query', () => {
  const plain: SqlQuery = { sql: 'SELECT v FROM t', values: {}, tables: [{ label: 't', view: 0 }] };
  const above: SqlQuery = { ...plain, tables: [{ label: 't', query: plain }] };
  const many = { rows: 5, pages: 1000 };

  it.each([
    ['a view', plain],
    ['a statement below', above],
  ])('have rows up to the limit, of %s', async (_title, query) => {
    expect(await rowsOf(query, 5, 1, many)).toBe(5);
    await expect(rowsOf(query, 6, 1, many)).rejects.toMatchObject({
      code: 'view-invalid',
      message: 'The query cannot be run: the table t has more than 5 rows',
    });
  });

  it('have memory up to the limit', async () => {
    const few = { rows: 1000, pages: 100 };
    expect(await rowsOf(plain, 20, 4000, few)).toBe(20);
    await expect(rowsOf(plain, 200, 4000, few)).rejects.toMatchObject({ code: 'too-costly' });
  });
});
