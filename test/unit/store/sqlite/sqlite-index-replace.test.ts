import type Database from 'better-sqlite3';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { tables } from '../../../../generated/tables.js';
import type { Resource } from '../../../../runtime/fhir/resource.js';
import { createExtractor } from '../../../../runtime/indexing/extract.js';
import type { IndexEntry } from '../../../../runtime/indexing/entry.js';
import { connect } from '../../../../runtime/store/sqlite/file/connect.js';
import { INDEX_TABLES } from '../../../../runtime/store/sqlite/file/schema.js';
import { openDictionary } from '../../../../runtime/store/sqlite/write/dictionary.js';
import { openIndexWriter, type IndexWriter } from '../../../../runtime/store/sqlite/write/index-entries.js';
import { exampleFiles, readExample } from '../../../conformance/formats/examples.js';
import { createRandom, seedOfRun } from '../../../contract/random.js';

const extract = createExtractor(tables);

function observation(value: number, more: object = {}): readonly IndexEntry[] {
  return extract({
    resourceType: 'Observation',
    status: 'final',
    code: { coding: [{ system: 'http://loinc.org', code: '8867-4' }] },
    subject: { reference: 'Patient/1' },
    effectiveDateTime: '2026-03-01T10:00:00Z',
    valueQuantity: { value, system: 'http://unitsofmeasure.org', code: '/min' },
    ...more,
  } as unknown as Resource);
}

describe('index entries that take the place of others', () => {
  let folder: string;
  let db: Database.Database;
  let index: IndexWriter;
  let type: number;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kiln-index-'));
    db = connect(join(folder, 'kiln.db'), { isTemporary: true });
    const dictionary = openDictionary(db);
    index = openIndexWriter(db, dictionary);
    type = dictionary.term('Any');
  });
  afterEach(() => {
    db.close();
    rmSync(folder, { recursive: true });
  });

  const rowsOf = (resource: number): unknown[] =>
    INDEX_TABLES.map((name) =>
      db
        .prepare<[number], readonly unknown[]>(`SELECT * FROM ${name} WHERE resource = ?`)
        .raw()
        .all(resource)
        .map(([, ...values]) => values),
    );

  /** What is written to the tables of index entries, beside the full text. */
  function changesOf(action: () => void): readonly string[] {
    const changed: string[] = [];
    db.function('note_change', (name: unknown) => void changed.push(String(name)));
    for (const name of INDEX_TABLES) {
      for (const [event, sign] of [
        ['INSERT', '+'],
        ['DELETE', '-'],
        ['UPDATE', '*'],
      ] as const) {
        db.exec(
          `CREATE TEMP TRIGGER ${name}_${event} AFTER ${event} ON main.${name} BEGIN SELECT note_change('${sign}${name}'); END`,
        );
      }
    }
    action();
    return changed.sort();
  }

  it('writes no row where nothing changes', () => {
    index.add(1, type, observation(70));
    const before = rowsOf(1);
    expect(changesOf(() => index.replace(1, type, observation(70)))).toEqual([]);
    expect(rowsOf(1)).toEqual(before);
  });

  it('writes only the rows of what changes', () => {
    index.add(1, type, observation(70));
    const changed = new Set(changesOf(() => index.replace(1, type, observation(80))));
    expect([...changed].sort()).toEqual(['+number', '-number']);
  });

  it('leaves the rows of other resources', () => {
    index.add(1, type, observation(70));
    index.add(2, type, observation(70));
    const other = rowsOf(2);
    index.replace(1, type, []);
    expect(rowsOf(1).flat()).toEqual([]);
    expect(rowsOf(2)).toEqual(other);
  });

  it('adds to a resource without rows after another was replaced', () => {
    index.add(1, type, observation(70));
    index.replace(1, type, observation(71));
    index.add(2, type, observation(70));
    index.add(3, type, observation(70));
    expect(rowsOf(2)).toEqual(rowsOf(3));
  });

  it('finds nothing left of a resource whose replacement failed halfway', () => {
    index.add(1, type, observation(70));
    const broken = [...observation(70).slice(0, 3), { kind: 'uri', param: 'x', value: Symbol('none') } as never];
    expect(() => db.transaction(() => index.replace(1, type, broken))()).toThrow();
    index.replace(1, type, observation(72, { status: 'amended' }));
    index.add(2, type, observation(72, { status: 'amended' }));
    expect(rowsOf(1)).toEqual(rowsOf(2));
  });

  it('leaves what adding alone would have written, whatever example follows whatever other', () => {
    const random = createRandom(seedOfRun());
    const files = exampleFiles();
    let last = 1;
    for (let n = 0; n < 60; n++) {
      const entries = extract(readExample(random.pick(files)).resource as unknown as Resource);
      index.replace(1, type, random.chance(0.3) ? entries.filter(() => random.chance(0.8)) : entries);
      index.replace(1, type, entries);
      index.add(++last, type, entries);
      expect(rowsOf(1), `entries ${n}`).toEqual(rowsOf(last));
    }
  });
});
