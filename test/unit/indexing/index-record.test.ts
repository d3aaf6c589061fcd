import { describe, expect, it } from 'vitest';

import type { SearchRow, SearchTable } from '../../../runtime/contract/search.js';
import { readIndexStatus, describeStaleIndex } from '../../../runtime/core/definitions/index-status.js';
import { describeIndex } from '../../../runtime/indexing/index-record.js';
import { put } from '../../contract/subject.js';
import { openStore } from '../../contract/open-store.js';

const row = (code: string, more: Partial<SearchRow> = {}): SearchRow => ({
  code,
  type: 'token',
  url: `urn:${code}`,
  paths: [{ text: code, steps: [{ get: code }], types: ['code'] }],
  ...more,
});
const tables = (...parameters: SearchRow[]): SearchTable[] => [
  { type: 'Resource', parameters: [row('_id')] },
  { type: 'Patient', base: 'Resource', parameters },
];
const before = tables(row('gender'), row('birthdate', { type: 'date' }));

describe('the record of what made the index entries', () => {
  it('an empty store takes on what is there now, as often as that changes', async () => {
    const store = await openStore('sqlite::memory:');
    expect(await readIndexStatus(store, describeIndex(tables(row('other')), 'UTC'))).toEqual([]);
    expect(await readIndexStatus(store, describeIndex(before, 'UTC'))).toEqual([]);
    await store.write([put('a', 0)]);
    expect(await readIndexStatus(store, describeIndex(before, 'UTC'))).toEqual([]);
    await store.close();
  });

  it.each([
    ['another way to the values', tables(row('gender', { paths: [{ text: 'x', steps: [], types: [] }] })), ['gender']],
    ['another slot', tables(row('gender', { slot: 3 })), ['gender']],
    ['a new one', tables(row('gender'), row('birthdate', { type: 'date' }), row('name')), ['name']],
    [
      'fewer of them, and what entries do not depend on',
      tables(row('gender', { url: 'urn:x', modifiers: [], hierarchy: true })),
      [],
    ],
  ])('with resources, it names the rows that have changed: %s', async (_, now, names) => {
    const store = await openStore('sqlite::memory:');
    await readIndexStatus(store, describeIndex(before, 'UTC'));
    await store.write([put('a', 0)]);
    const expected = names.map((name) => `Patient.${name}`);
    // It is not forgotten by being told.
    for (let n = 0; n < 2; n++) expect(await readIndexStatus(store, describeIndex(now, 'UTC'))).toEqual(expected);
    expect(await readIndexStatus(store, describeIndex(before, 'UTC'))).toEqual([]);
    await store.close();
  });

  it('a special parameter that has entries now, and had none once, is not current', async () => {
    const near = row('near', { type: 'special', url: 'http://hl7.org/fhir/SearchParameter/Location-near' });
    const store = await openStore('sqlite::memory:');
    await readIndexStatus(store, describeIndex(tables({ ...near, url: 'urn:none' }), 'UTC'));
    await store.write([put('a', 0)]);
    expect(await readIndexStatus(store, describeIndex(tables(near), 'UTC'))).toEqual(['Patient.near']);
    await store.close();
  });

  it('another zone alters dates', async () => {
    const store = await openStore('sqlite::memory:');
    await readIndexStatus(store, describeIndex(before, 'UTC'));
    await store.write([put('a', 0)]);
    expect(await readIndexStatus(store, describeIndex(before, '+02:00'))).toEqual(['Patient.birthdate']);
    await store.close();
  });

  it('without one, a store with resources has no row that is current', async () => {
    const store = await openStore('sqlite::memory:');
    await store.write([put('a', 0)]);
    expect(await readIndexStatus(store, describeIndex(before, 'UTC'))).toHaveLength(5);
    await store.close();
  });

  it('is told in a sentence', () => {
    expect(describeStaleIndex([])).toBeUndefined();
    expect(describeStaleIndex(['Patient.name'])).toMatch(
      /^Index entries of Patient\.name were made by other definitions/,
    );
    expect(describeStaleIndex(Array.from({ length: 12 }, (_, n) => `Patient.${n}`))).toContain('Patient.9 and 2 more');
  });
});
