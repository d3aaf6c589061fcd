import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openStore } from '../contract/open-store.js';
import { put } from '../contract/subject.js';
import { scopedServer } from '../http/auth/scoped.js';

const ROWS = 50_000;
const FETCH_SIZE = 2000;
const BATCH = 1000;
const MB = 1024 * 1024;

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc') as () => void;

const folder = mkdtempSync(join(tmpdir(), 'kiln-hfql-'));
const store = await openStore(`sqlite:${join(folder, 'kiln.db')}`);

describe('HFQL over many resources', () => {
  const server = scopedServer(store);
  beforeAll(async () => {
    for (let from = 0; from < ROWS; from += BATCH) {
      await store.write(Array.from({ length: BATCH }, (_, i) => put(`p${from + i}`, 0, 'x'.repeat(500))));
    }
  });
  afterAll(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  const ask = async (parameters: Readonly<Record<string, string | number>>): Promise<string[]> => {
    const parameter = Object.entries(parameters).map(([name, value]) =>
      typeof value === 'number' ? { name, valueInteger: value } : { name, valueString: value },
    );
    const answer = await server.all.send('POST', '/$hfql-execute', { resourceType: 'Parameters', parameter });
    expect(answer.status, answer.text.slice(0, 500)).toBe(200);
    return answer.text.split('\n').slice(1, -1);
  };

  it.each([
    ['', ROWS],
    [" where id.toString().endsWith('7')", ROWS / 10],
  ])('rows are paged to the end, with flat memory:%s (%i)', async (where, expected) => {
    const ids = new Set<string>();
    const heaps: number[] = [];
    const fetchSize = FETCH_SIZE;
    const [head = '', ...first] = await ask({ action: 'search', query: `select id from Patient${where}`, fetchSize });
    const [, continuation = '', statement = ''] = /^([^,]*),-1,"(.*)"$/.exec(head) ?? [];
    for (let rows = first; ;) {
      for (const row of rows) ids.add(row.split(',')[1]!);
      collectGarbage();
      heaps.push(process.memoryUsage().heapUsed);
      if (rows.length < fetchSize) break;
      const offset = Number(rows.at(-1)!.split(',')[0]) + 1;
      const more = { continuation, statement: statement.replaceAll('""', '"'), offset, limit: -1, fetchSize };
      rows = (await ask({ action: 'searchContinuation', ...more })).slice(1);
    }
    expect(ids.size).toBe(expected);
    // The ids themselves are some megabytes.
    console.log(`${ids.size} rows: ${heaps.map((each) => Math.round(each / MB)).join(' ')} MB`);
    expect(heaps.at(-1)! - heaps[0]!).toBeLessThan(15 * MB);
  });

  it('what is sorted or grouped has a bound, and an error row beyond it', async () => {
    for (const query of [
      'select id from Patient order by id',
      'select id, count(*) from Patient group by id',
      'select id, count(*) from Patient where id.exists() group by id',
    ]) {
      // prettier-ignore
      const [, row = ''] = await ask({ action: 'search', query });
      expect(row).toMatch(/^-1,.*10000/);
    }
    expect((await ask({ action: 'search', query: 'select count(*) from Patient' }))[1]).toBe(`0,${ROWS}`);
  });
});
