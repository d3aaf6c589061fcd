import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import type { IndexEntry } from '../../../../runtime/indexing/entry.js';
import type { Condition } from '../../../../runtime/search/query/query.js';
import { openSqliteStore } from '../../../../runtime/store/sqlite/sqlite-store.js';
import type { FindQuery, Store } from '../../../../runtime/store/store.js';
import { of, reference, token, uri } from '../../../contract/search/behaviour-search-helpers.js';
import { put } from '../../../contract/subject.js';
import { EVENTUALLY } from '../../../eventually.js';

/** Resources of each type: more than any way of finding collects without need. */
const MANY = Number(process.env['KILN_LINKS'] ?? 6000);
const RARE = 10;
const PAGE = 20;

const is = (param: string, code: string): Condition => ({ param, any: [{ is: 'token', code }] });
const subject = (where: Condition): Condition => ({ param: 'subject', chain: [{ type: 'Patient', where }] });
const observed = (where: Condition, type = 'Observation'): Condition => ({ has: { type, param: 'subject', where } });
const all = (...conditions: Condition[]): Condition => ({ all: conditions });

/**
 * Most patients are male and most observations common; ten have a name, ten a code. Each patient has one observation, but one,
 * whose are as many as of all others together. Patients go to a clinic, of which there is one, but ten that go to ten others.
 */
describe('searches by links look at few rows', () => {
  let folder: string;
  let store: Store;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kiln-links-'));
    store = openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`);
    const add = async (type: string, entriesOf: (n: number) => readonly IndexEntry[], count: number): Promise<void> => {
      for (let at = 0; at < count; at += 1000) {
        const numbers = Array.from({ length: Math.min(1000, count - at) }, (_, n) => at + n);
        await store.write(numbers.map((n) => put(idOf(n), 0, 'x', entriesOf(n), type)));
      }
    };
    const every = Math.floor(MANY / RARE);
    const rare = (n: number): boolean => n % every === 7;
    const tagged = (param: string, code: string): IndexEntry => of(param, token(code));
    const to = (param: string, type: string, n: number): IndexEntry => of(param, reference({ type, id: idOf(n) }));
    await add('Clinic', (n) => [tagged('name', n === 0 ? 'big' : 'small')], 11);
    await add(
      'Patient',
      (n) => [
        tagged('gender', 'male'),
        ...(rare(n) ? [tagged('name', 'rare')] : []),
        to('clinic', 'Clinic', rare(n) ? 1 + Math.floor(n / every) : 0),
      ],
      MANY,
    );
    await add(
      'Observation',
      (n) => [tagged('code', rare(n + 2) ? 'rare' : 'common'), to('subject', 'Patient', n)],
      MANY,
    );
    await add('Note', (n) => [tagged('code', 'common'), to('subject', 'Patient', n % 2 === 0 ? 0 : n)], MANY);
    await add('Form', (n) => [of('url', uri(`http://x/${n}`)), tagged('name', rare(n) ? 'rare' : 'other')], MANY);
    await add('Answer', (n) => [of('form', reference({ url: `http://x/${n}` })), tagged('code', 'common')], MANY);
  }, 600_000);
  afterAll(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  function idOf(n: number): string {
    // In no order of numbers.
    return `${((n * 7919) % 9973).toString().padStart(4, '0')}-${n}`;
  }

  const CASES: readonly [what: string, type: string, where: Condition, rare: number, sort?: FindQuery['sort']][] = [
    ['a rare code, of male patients', 'Observation', all(is('code', 'rare'), subject(is('gender', 'male'))), RARE],
    ['of male patients, a rare code', 'Observation', all(subject(is('gender', 'male')), is('code', 'rare')), RARE],
    ['of patients with a rare name', 'Observation', subject(is('name', 'rare')), RARE],
    ['of patients with a rare name, a common code', 'Observation', all(is('code', 'common'), subject(is('name', 'rare'))), RARE], // prettier-ignore
    ['of male patients', 'Observation', subject(is('gender', 'male')), MANY],
    ['with a rare observation', 'Patient', observed(is('code', 'rare')), RARE],
    ['male, with a rare observation', 'Patient', all(is('gender', 'male'), observed(is('code', 'rare'))), RARE],
    ['of a rare name, with a common observation', 'Patient', all(is('name', 'rare'), observed(is('code', 'common'))), RARE], // prettier-ignore
    ['with a common observation, of a rare name', 'Patient', all(observed(is('code', 'common')), is('name', 'rare')), RARE], // prettier-ignore
    ['with a common observation', 'Patient', observed(is('code', 'common')), MANY],
    ['with a common note and a rare observation', 'Patient', all(observed(is('code', 'common'), 'Note'), observed(is('code', 'rare'))), RARE], // prettier-ignore
    ['notes of one patient who has very many', 'Note', subject({ ids: ['0000-0'] }), 1],
    ['common ones of that patient', 'Note', all(is('code', 'common'), subject({ ids: ['0000-0'] })), 1],
    ['observations through two links', 'Observation', subject({ param: 'clinic', chain: [{ type: 'Clinic', where: is('name', 'small') }] }), RARE], // prettier-ignore
    ['clinics through two links back', 'Clinic', { has: { type: 'Patient', param: 'clinic', where: observed(is('code', 'rare')) } }, RARE], // prettier-ignore
    ['common ones of patients with rare ones', 'Note', all(is('code', 'common'), subject(observed(is('code', 'rare')))), RARE], // prettier-ignore
    ['either of two links', 'Observation', { some: [subject(is('name', 'rare')), is('code', 'rare')] }, 2 * RARE],
    ['by what canonicals lead to', 'Answer', { param: 'form', chain: [{ type: 'Form', where: is('name', 'rare') }] }, RARE], // prettier-ignore
    ['named by a few canonicals', 'Form', { has: { type: 'Answer', param: 'form', where: { ids: [`0000-0`] } } }, 1],
    ['sorted, with a rare observation', 'Patient', all(is('gender', 'male'), observed(is('code', 'rare'))), RARE, [{ param: 'clinic', by: 'reference', isDescending: true }]], // prettier-ignore
  ];

  it.each(CASES)('%s', async (what, type, where, rare, sort = []) => {
    const query: FindQuery = { type, where, sort, count: PAGE, total: 'none' };
    const started = performance.now();
    const { examined, returned, driving } = await store.explain(query);
    if (process.env['KILN_LINKS'] !== undefined) {
      console.log(`${what}: ${examined} for ${returned} by ${driving}, ${(performance.now() - started).toFixed(1)} ms`);
    }
    const { versions } = await store.find(query);
    expect(returned).toBe(versions.length);
    expect(returned).toBeGreaterThan(0);
    expect(examined).toBeGreaterThanOrEqual(returned);
    expect(examined).toBeLessThanOrEqual(20 * (PAGE + Math.min(rare, MANY)));
  });

  it('stop in the middle of what they lead to, and let others search', async () => {
    const hurried = openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`, { queryBudget: 1000, readers: 1 });
    try {
      // Each of the notes of one patient, which are many, asks for all of them.
      const where = subject(observed({ not: is('code', 'common') }, 'Note'));
      const query: FindQuery = {
        type: 'Note',
        where,
        sort: [],
        count: PAGE,
        total: 'none',
      };
      await hurried.find({ ...query, where: { all: [] } });
      await expect(hurried.find(query)).rejects.toMatchObject({ code: 'too-costly' });
      await expect(hurried.findMultiType({ ...query, parts: [{ type: 'Note', where }] })).rejects.toMatchObject({
        code: 'too-costly',
      });
      // On the one thread there is, as soon as that has stopped.
      const { versions } = await vi.waitFor(() => hurried.history({ type: 'Note', count: 1 }), EVENTUALLY);
      expect(versions).toHaveLength(1);
    } finally {
      await hurried.close();
    }
  });
});
